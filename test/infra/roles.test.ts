import { describe, expect, it } from "vitest";
import { FUNCTIONS, type FunctionDefinition } from "../../infra/components/functions-table.ts";
import { policyOf, statementsFor, writeLogs, type StackNames } from "../../infra/components/roles.ts";

const NAMES: StackNames = {
  partition: "aws",
  region: "eu-central-1",
  account: "123456789012",
  stack: "test",
  table: "state-1a2b3c4",
  bucket: "data-1a2b3c4",
  isolateRoleArn: "arn:aws:iam::123456789012:role/isolates-1a2b3c4",
  reconciler: "spotter-test-reconciler",
  scaler: "spotter-test-scaler",
  containers: {
    clusterName: "spotter-test",
    taskDefinitionArns: ["arn:aws:ecs:eu-central-1:123456789012:task-definition/serve-cpu:7"],
    jobDefinitionArns: ["arn:aws:batch:eu-central-1:123456789012:job-definition/work-cpu:3"],
    jobQueueArns: ["arn:aws:batch:eu-central-1:123456789012:job-queue/work-cpu"],
    taskRoleArns: ["arn:aws:iam::123456789012:role/task"],
    logGroupName: "/spotter/test/containers",
  },
};
const all = Object.entries(FUNCTIONS) as [string, FunctionDefinition][];
const whoMay = (action: string) =>
  all
    .filter(([, { grants }]) => statementsFor(grants, NAMES).some(({ Action }) => Action.includes(action)))
    .map(([name]) => name);
const statementOf = (grants: FunctionDefinition["grants"], action: string) =>
  statementsFor(grants, NAMES).find(({ Action }) => Action.includes(action));

describe("who may", () => {
  it.each([
    ["start and end containers", "ecs:RunTask", ["reconciler"]],
    ["start and end jobs", "batch:SubmitJob", ["reconciler"]],
    ["end instances", "ec2:TerminateInstances", ["reconciler"]],
    ["write secrets", "ssm:PutParameter", ["secrets"]],
    ["remove secrets", "ssm:DeleteParameter", ["secrets"]],
    ["make functions of user code", "lambda:CreateFunction", ["evals", "jobs", "runs", "user-code"]],
    [
      "read what containers wrote",
      "logs:GetLogEvents",
      ["endpoints", "evals", "pages", "reconciler", "runs"],
    ],
    ["hand on a role", "iam:PassRole", ["evals", "jobs", "reconciler", "runs", "user-code"]],
  ])("%s", (_, action, names) => {
    expect(whoMay(action)).toEqual(names);
  });

  it("wake the scaler: only chats", () => {
    const scaler = "arn:aws:lambda:eu-central-1:123456789012:function:spotter-test-scaler";
    const mayWake = all.filter(([, { grants }]) =>
      statementsFor(grants, NAMES).some(({ Resource }) => Resource === scaler),
    );
    expect(mayWake.map(([name]) => name)).toEqual(["chat"]);
  });

  it("read the whole table, or all of it at once: nobody", () => {
    for (const action of ["dynamodb:Scan", "dynamodb:DeleteTable", "s3:DeleteBucket", "iam:CreateRole"])
      expect(whoMay(action), action).toEqual([]);
  });
});

it("lets functions wake those whose names they are given, and no others", () => {
  for (const [name, { grants, wakes = [] }] of all) {
    const granted = (["reconciler", "scaler"] as const).filter((each) => grants.includes(`wake-${each}`));
    expect(granted, name).toEqual([...wakes]);
  }
});

it("gives variables of an adapter to who may use it, and to nobody else", () => {
  for (const [name, { grants, needs = [] }] of all) {
    const needed = [
      ...(grants.includes("blobs") ? ["bucket"] : []),
      ...(grants.includes("read-containers") || grants.includes("run-containers") ? ["containers"] : []),
      ...(grants.includes("isolates") ? ["isolates"] : []),
    ];
    expect([...needs], name).toEqual(needed);
  }
});

describe("a policy", () => {
  it("names its resources, but for calls that have none", () => {
    const open = all.flatMap(([, { grants }]) =>
      statementsFor(grants, NAMES).filter(({ Resource }) => [Resource].flat().includes("*")),
    );
    expect([...new Set(open.flatMap(({ Action }) => Action))].sort()).toEqual([
      "autoscaling:DescribeScalingActivities",
      "batch:DescribeJobs",
      "batch:ListJobs",
      "ecs:ListTasks",
      "lambda:ListFunctions",
    ]);
  });

  it("is for any revision of a definition: what waits was made from an older one", () => {
    expect(statementOf(["run-containers"], "ecs:RunTask")?.Resource).toEqual([
      "arn:aws:ecs:eu-central-1:123456789012:task-definition/serve-cpu:*",
    ]);
    expect(statementOf(["run-containers"], "batch:SubmitJob")?.Resource).toEqual([
      "arn:aws:batch:eu-central-1:123456789012:job-definition/work-cpu:*",
      "arn:aws:batch:eu-central-1:123456789012:job-definition/work-cpu",
      "arn:aws:batch:eu-central-1:123456789012:job-queue/work-cpu",
    ]);
  });

  it("ends only what bears the stack's tag", () => {
    for (const action of [
      "batch:TerminateJob",
      "ec2:TerminateInstances",
      "autoscaling:TerminateInstanceInAutoScalingGroup",
    ])
      expect(statementOf(["run-containers"], action)?.Condition, action).toEqual({
        StringEquals: { "aws:ResourceTag/spotter:stack": "test" },
      });
  });

  it("stays within its folder of the bucket", () => {
    expect(statementOf(["blobs"], "s3:PutObject")?.Resource).toBe("arn:aws:s3:::data-1a2b3c4/blobs/*");
  });

  it("is shorter than the longest that a role may have", () => {
    const many = Array.from(
      { length: 12 },
      (_, index) => `arn:aws:batch:eu-central-1:1:job-definition/a-${index}:1`,
    );
    const containers = {
      ...NAMES.containers,
      taskDefinitionArns: many,
      jobDefinitionArns: many,
      jobQueueArns: many,
    };
    for (const [name, { grants }] of all) {
      const statements = statementsFor(grants, { ...NAMES, containers });
      const text = policyOf([writeLogs("arn:aws:logs:eu-central-1:1:log-group:x"), ...statements]);
      expect(text.length, name).toBeLessThan(10_240);
    }
  });
});
