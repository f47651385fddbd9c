import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { callsOf } from "./aws-calls.ts";
import { needsOf, ONLY } from "./aws-needs.ts";
import { PERMISSIONS, type PermissionName, type World } from "./aws-permissions.ts";
import { isAllowed, managedPolicies, policiesOf } from "./iam.ts";
import { recordStack, type Recorded } from "./record-stack.ts";
import "./without-bundles.ts";

interface Process {
  name: string;
  /** Its source. */
  entry: string;
  role: string;
  environment: Record<string, string>;
}

/** What every function may, besides: write its own log, and be in a network. */
const OWN = ["logs:CreateLogStream", "logs:PutLogEvents"];
const IN_NETWORK = "arn:aws:iam::aws:policy/service-role/AWSLambdaENIManagementAccess";

/** With everything that containers are started from. */
const EVERYTHING = {
  "spotter:multiNode": "H100:8=2",
  "spotter:engineImages": JSON.stringify(
    ["slime", "vllm"].map((each) => `${each}=x@sha256:${"0".repeat(64)}`),
  ),
};

/** The control plane of both gateways: all there is of it. */
const GATEWAYS = ["fargate", "lambda"] as const;

describe.each(GATEWAYS)("with the gateway on %s", (gateway) => {
  let stack: Recorded[];
  let world: World;
  let processes: Process[];
  let names: string[];
  beforeAll(async () => {
    ({ resources: stack } = await recordStack({ ...EVERYTHING, "spotter:gateway": gateway }));
    processes = processesOf(stack);
    names = processes.map(({ name }) => name);
    world = worldOf(stack, processes);
  }, 60_000);

  it("has a role of its own for each process", () => {
    expect(new Set(processes.map(({ role }) => role)).size).toBe(processes.length);
    expect(names).toContain(gateway === "fargate" ? "gateway" : "scaler");
    for (const { entry } of processes) expect(existsSync(entry), entry).toBe(true);
  });

  it("lets each do what its code calls, on what is the stack's, and nothing else", async () => {
    const wrong: string[] = [];
    for (const process of processes) {
      const needed = await neededBy(process);
      const policies = policiesOf(stack, process.role);
      for (const [name, permission] of Object.entries(PERMISSIONS)) {
        const { action, mine, others } = permission(world);
        const isNeeded = needed.has(name as PermissionName);
        for (const question of mine)
          if ((await isAllowed(policies, { action, ...question })) !== isNeeded)
            wrong.push(
              `${process.name} ${isNeeded ? "needs" : "does not need"} ${action} of ${question.resource}`,
            );
        for (const question of others)
          if (await isAllowed(policies, { action, ...question }))
            wrong.push(
              `${process.name} may ${action} of ${question.resource} ${JSON.stringify(question.context)}`,
            );
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it("names no action in a policy that the code behind it does not need", async () => {
    const idle: string[] = [];
    for (const process of processes) {
      const needed = [...(await neededBy(process))].map((name) => PERMISSIONS[name](world).action);
      const known = new Set([...needed, ...OWN]);
      const named = policiesOf(stack, process.role).flatMap(actionsOf);
      idle.push(
        ...named.filter((action) => !known.has(action)).map((action) => `${process.name}: ${action}`),
      );
    }
    expect(idle).toEqual([]);
  });

  it("attaches no policy of AWS's own but the one for networks", () => {
    for (const { name, role } of processes)
      expect(
        managedPolicies(stack, role).filter((each) => each !== IN_NETWORK),
        name,
      ).toEqual([]);
  });

  it("lets nobody do what no code calls", async () => {
    const never: [string, string][] = [
      ["dynamodb:Scan", `arn:aws:dynamodb:eu-central-1:123456789012:table/${world.table}`],
      ["dynamodb:DeleteTable", `arn:aws:dynamodb:eu-central-1:123456789012:table/${world.table}`],
      ["s3:DeleteBucket", `arn:aws:s3:::${world.bucket}`],
      ["s3:PutBucketPolicy", `arn:aws:s3:::${world.bucket}`],
      ["iam:CreateRole", "arn:aws:iam::123456789012:role/any"],
      ["iam:PutRolePolicy", `arn:aws:iam::123456789012:role/${world.isolateRole.split("/").at(-1) ?? ""}`],
      ["lambda:UpdateFunctionCode", `arn:aws:lambda:eu-central-1:123456789012:function:${world.reconciler}`],
      ["ec2:RunInstances", "arn:aws:ec2:eu-central-1:123456789012:instance/*"],
      ["ecs:DeleteCluster", `arn:aws:ecs:eu-central-1:123456789012:cluster/${world.cluster}`],
    ];
    for (const { name, role } of processes)
      for (const [action, resource] of never)
        expect(await isAllowed(policiesOf(stack, role), { action, resource }), `${name} ${action}`).toBe(
          false,
        );
  });

  it("gives user code a role that may do nothing at all", () => {
    const role = world.isolateRole.split("/").at(-1) ?? "";
    expect(policiesOf(stack, role)).toEqual([]);
    expect(managedPolicies(stack, role)).toEqual([]);
  });

  it("knows who alone makes a call", () => {
    for (const { by, permissions } of ONLY) {
      expect(names).toEqual(expect.arrayContaining(by));
      expect(permissions.length).toBeGreaterThan(0);
    }
  });
});

const calls = new Map<string, ReturnType<typeof callsOf>>();

async function neededBy({ name, entry, environment }: Process): Promise<Set<PermissionName>> {
  const making = calls.get(entry) ?? callsOf(entry);
  calls.set(entry, making);
  const needed = (await making).flatMap((call) => needsOf(call, environment));
  const isOthers = (permission: PermissionName) =>
    ONLY.some(({ permissions, by }) => permissions.includes(permission) && !by.includes(name));
  return new Set(needed.filter((permission) => !isOthers(permission)));
}

/** The functions, and the gateway where it is a container. */
function processesOf(stack: readonly Recorded[]): Process[] {
  const functions = stack
    .filter(({ type }) => type === "aws:lambda/function:Function")
    .map(({ name, inputs }) => {
      const { variables = {} } = (inputs["environment"] ?? {}) as { variables?: Record<string, string> };
      const entry = join(import.meta.dirname, `../../functions/lambda/${name}.ts`);
      return { name, entry, role: nameOf(inputs["role"]), environment: variables };
    });
  const service = stack.find(({ type }) => type === "aws:ecs/service:Service");
  if (service === undefined) return functions;
  const definition = definitionOf(stack, String(service.inputs["taskDefinition"]));
  const [container] = JSON.parse(String(definition.inputs["containerDefinitions"])) as [
    { environment?: { name: string; value: string }[] },
  ];
  const environment = Object.fromEntries(
    (container.environment ?? []).map(({ name, value }) => [name, value]),
  );
  const entry = join(import.meta.dirname, "../../functions/gateway.ts");
  return [
    ...functions,
    { name: "gateway", entry, role: nameOf(definition.inputs["taskRoleArn"]), environment },
  ];
}

function worldOf(stack: readonly Recorded[], processes: readonly Process[]): World {
  const variable = (name: string) =>
    processes.map(({ environment }) => environment[name]).find((value) => value !== undefined) ?? "";
  const places = JSON.parse(variable("SPOTTER_CONTAINERS")) as {
    cluster: string;
    logGroup: string;
    serve: Record<string, { taskDefinition: string }>;
    work: Record<string, { jobDefinition: string; jobQueue: string; spotJobQueue?: string }>;
  };
  const work = Object.values(places.work);
  const taskDefinitions = Object.values(places.serve).map(({ taskDefinition }) => taskDefinition);
  return {
    stack: variable("SPOTTER_STACK"),
    table: variable("SPOTTER_TABLE"),
    bucket: variable("SPOTTER_BUCKET"),
    cluster: nameOf(places.cluster),
    logGroup: places.logGroup,
    taskDefinitions: taskDefinitions.map((each) => arnOf("ecs", "task-definition", each)),
    jobDefinitions: work.map(({ jobDefinition }) => arnOf("batch", "job-definition", jobDefinition)),
    jobQueues: work
      .flatMap(({ jobQueue, spotJobQueue }) => [jobQueue, spotJobQueue])
      .filter((each) => each !== undefined)
      .map((each) => arnOf("batch", "job-queue", each)),
    taskRoles: taskDefinitions
      .map((each) => definitionOf(stack, each).inputs)
      .flatMap((inputs) => [inputs["taskRoleArn"], inputs["executionRoleArn"]])
      .filter((role) => role !== undefined)
      .map(String),
    isolateRole: variable("SPOTTER_ISOLATE_ROLE_ARN"),
    reconciler: variable("SPOTTER_RECONCILER_FUNCTION"),
    scaler: `spotter-${variable("SPOTTER_STACK")}-scaler`,
  };
}

/** A task definition by its ARN, or by its family with or without a revision. */
function definitionOf(stack: readonly Recorded[], named: string): Recorded {
  const family = (named.split("/").at(-1) ?? "").split(":")[0];
  const found = stack.find(
    ({ type, inputs }) => type === "aws:ecs/taskDefinition:TaskDefinition" && inputs["family"] === family,
  );
  if (found === undefined) throw new Error(`There is no task definition ${named}.`);
  return found;
}

function arnOf(service: string, kind: string, named: string): string {
  if (named.startsWith("arn:")) return named;
  const revision = kind.endsWith("-definition") && !/:\d+$/.test(named) ? ":1" : "";
  return `arn:aws:${service}:eu-central-1:123456789012:${kind}/${named}${revision}`;
}

const nameOf = (arn: unknown): string => String(arn).split("/").at(-1) ?? "";

function actionsOf(policy: unknown): string[] {
  return (policy as { Statement: { Action: string | string[] }[] }).Statement.flatMap(({ Action }) => Action);
}
