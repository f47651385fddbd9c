import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { FUNCTIONS, functionsFor, type FunctionName } from "../../infra/components/functions-table.ts";
import type { Registered } from "./engine/monitor.ts";
import { recordComponents, type Components } from "./record-components.ts";

vi.mock("../../infra/bundle.ts", () => ({
  bundle: (entry: URL) => Promise.resolve({ "index.mjs": entry.pathname }),
}));

const SECRET = "a secret of 32 letters or more, for tests";
const CONTAINERS = {
  clusterName: "spotter-test",
  taskDefinitionArns: ["arn:aws:ecs:eu-central-1:123456789012:task-definition/serve:1"],
  jobDefinitionArns: ["arn:aws:batch:eu-central-1:123456789012:job-definition/work:1"],
  jobQueueArns: ["arn:aws:batch:eu-central-1:123456789012:job-queue/work"],
  taskRoleArns: ["arn:aws:iam::123456789012:role/task"],
  logGroupName: "/spotter/test/containers",
};

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { Functions } = await import("../../infra/components/functions.ts");
    const functions = new Functions(
      "functions",
      {
        tableName: "state-1a2b3c4",
        bucketName: "data-1a2b3c4",
        containerPlaces: '{"cluster":"spotter-test"}',
        containerNames: CONTAINERS,
        originSecret: SECRET,
        network: { subnetIds: ["subnet-1"], securityGroupIds: ["sg-gateway"] },
      },
      config,
    );
    functions.makeEventFunctions("https://d111111abcdef8.cloudfront.net");
    return {};
  });

const of = ({ resources }: Components, type: string) =>
  resources.filter((each) => each.type.endsWith(`:${type}`));
const named = (recording: Components, type: string, name: string): Registered => {
  const found = of(recording, type).find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no ${type} ${name}.`);
  return found;
};
const variablesOf = (recording: Components, name: FunctionName) =>
  (named(recording, "Function", name).inputs["environment"] as { variables: Record<string, string> })
    .variables;

let stack: Components;
let small: Components;
beforeAll(async () => {
  stack = await record();
  small = await record({ gateway: "lambda" });
}, 60_000);

it("has an entry for each function there is, and each of them in one of the stacks", () => {
  const folder = join(import.meta.dirname, "../../functions/lambda");
  const entries = readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isFile() && each.name.endsWith(".ts"))
    // That one is beside the bundle of a user's code, in functions that are made as they are needed.
    .map(({ name }) => name.replace(/\.ts$/, ""))
    .filter((name) => name !== "user-code-host");
  expect(Object.keys(FUNCTIONS).sort()).toEqual(entries.sort());
  expect(
    of(small, "Function")
      .map(({ name }) => name)
      .sort(),
  ).toEqual(entries.sort());
  const without = of(stack, "Function").map(({ name }) => name);
  expect(entries.filter((name) => !without.includes(name))).toEqual(["chat", "scaler"]);
});

describe.each(functionsFor("lambda"))("%s", (name, definition) => {
  it("runs on Node 24 for ARM, from the bundle of its own entry", () => {
    const { inputs } = named(small, "Function", name);
    expect(inputs).toMatchObject({
      name: `spotter-test-${name}`,
      runtime: "nodejs24.x",
      architectures: ["arm64"],
      handler: "index.handler",
      memorySize: definition.memoryMiB,
      timeout: definition.timeoutS,
      tags: { "spotter:stack": "test" },
    });
    expect(JSON.stringify(inputs["code"])).toContain(`/functions/lambda/${name}.ts`);
  });

  it("has a role of its own, and logs that end", () => {
    const { inputs, dependencies } = named(small, "Function", name);
    expect(inputs["role"]).toBe(`arn:aws:iam::123456789012:role/${name}-function-1a2b3c4`);
    expect(dependencies.some((urn) => urn.includes(`RolePolicy::${name}-function`))).toBe(true);
    expect(inputs["loggingConfig"]).toEqual({
      logFormat: "JSON",
      logGroup: `/spotter/test/functions/${name}`,
    });
    expect(named(small, "LogGroup", name).inputs["retentionInDays"]).toBe(30);
    const { Statement } = JSON.parse(
      String(named(small, "RolePolicy", `${name}-function`).inputs["policy"]),
    ) as { Statement: object[] };
    expect(Statement[0]).toEqual({
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: `arn:aws:logs:eu-central-1:123456789012:log-group:/spotter/test/functions/${name}:*`,
    });
  });

  it("has a URL if it is asked over HTTP, with both statements, and only then", () => {
    const urls = of(small, "FunctionUrl").filter((each) => each.name === name);
    const permissions = of(small, "Permission").filter(
      ({ inputs }) => inputs["function"] === `spotter-test-${name}`,
    );
    if (definition.asked === "event") {
      expect([urls, permissions]).toEqual([[], []]);
      return;
    }
    expect(urls.map(({ inputs }) => inputs)).toEqual([
      {
        functionName: `spotter-test-${name}`,
        authorizationType: "NONE",
        invokeMode: definition.asked === "stream" ? "RESPONSE_STREAM" : "BUFFERED",
      },
    ]);
    const shared = { function: `spotter-test-${name}`, principal: "*" };
    expect(permissions.map(({ inputs }) => inputs)).toEqual([
      { ...shared, action: "lambda:InvokeFunctionUrl", functionUrlAuthType: "NONE" },
      { ...shared, action: "lambda:InvokeFunction", invokedViaFunctionUrl: true },
    ]);
  });
});

describe("variables", () => {
  it("are what adapters need, and nothing else", () => {
    expect(variablesOf(stack, "events")).toEqual({
      SPOTTER_VERSION: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      SPOTTER_STACK: "test",
      SPOTTER_TABLE: "state-1a2b3c4",
      SPOTTER_ORIGIN_SECRET: SECRET,
    });
    expect(variablesOf(stack, "runs")).toEqual({
      ...variablesOf(stack, "events"),
      SPOTTER_BUCKET: "data-1a2b3c4",
      SPOTTER_CONTAINERS: '{"cluster":"spotter-test"}',
      SPOTTER_ISOLATE_ROLE_ARN: "arn:aws:iam::123456789012:role/isolates-1a2b3c4",
      SPOTTER_RECONCILER_FUNCTION: "spotter-test-reconciler",
    });
    expect(variablesOf(small, "chat")["SPOTTER_SCALER_FUNCTION"]).toBe("spotter-test-scaler");
  });

  it("tell event functions the URL, and the others only where there is a domain", async () => {
    expect(variablesOf(stack, "reconciler")["SPOTTER_URL"]).toBe("https://d111111abcdef8.cloudfront.net");
    expect(variablesOf(stack, "reconciler")).not.toHaveProperty("SPOTTER_ORIGIN_SECRET");
    const own = await record({ domain: "gym.example.com", hostedZoneId: "Z0123456789ABC" });
    expect(variablesOf(own, "pages")["SPOTTER_URL"]).toBe("https://gym.example.com");
  }, 20_000);
});

it("gives user code a role that may do nothing", () => {
  const arn = "arn:aws:iam::123456789012:role/isolates-1a2b3c4";
  expect(named(stack, "Role", "isolates").inputs["tags"]).toMatchObject({ "spotter:stack": "test" });
  const policies = [...of(stack, "RolePolicy"), ...of(stack, "RolePolicyAttachment")];
  expect(policies.filter(({ inputs }) => String(inputs["role"]).startsWith("isolates"))).toEqual([]);
  expect(variablesOf(stack, "jobs")["SPOTTER_ISOLATE_ROLE_ARN"]).toBe(arn);
});

it("limits how many calls of a function there are at a time, if asked to", async () => {
  expect(named(stack, "Function", "runs").inputs).not.toHaveProperty("reservedConcurrentExecutions");
  const limited = await record({ maxFunctionConcurrency: "20" });
  expect(named(limited, "Function", "runs").inputs["reservedConcurrentExecutions"]).toBe(20);
}, 20_000);

it("puts chats into the network, where replicas can be reached, and nothing else", () => {
  const inside = of(small, "Function").filter(({ inputs }) => inputs["vpcConfig"] !== undefined);
  expect(inside.map(({ name, inputs }) => [name, inputs["vpcConfig"]])).toEqual([
    ["chat", { subnetIds: ["subnet-1"], securityGroupIds: ["sg-gateway"], ipv6AllowedForDualStack: true }],
  ]);
  // Without a NAT gateway services of AWS are reached by IPv6, under other names.
  expect(variablesOf(small, "chat")["AWS_USE_DUALSTACK_ENDPOINT"]).toBe("true");
  expect(of(small, "RolePolicyAttachment").map(({ inputs }) => inputs)).toEqual([
    {
      role: "chat-function-1a2b3c4",
      policyArn: "arn:aws:iam::aws:policy/service-role/AWSLambdaENIManagementAccess",
    },
  ]);
});
