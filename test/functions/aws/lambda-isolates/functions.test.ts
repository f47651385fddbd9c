import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CALLED_OFF, OPEN_NETWORK } from "../../../../functions/aws/lambda-isolates.ts";
import { sweepUnused } from "../../../../functions/aws/lambda-isolates/sweep.ts";
import { callsOf, echo, onlyFunction, openLambda, type OpenLambda } from "./open-lambda.ts";

const FAST = { timeoutMs: 5_000 };
// Real processes, on a machine that others use too.
vi.setConfig({ testTimeout: 20_000 });
const DAY_MS = 86_400_000;

let opened: OpenLambda;
beforeEach(async () => {
  opened = await openLambda();
});
afterEach(() => opened.close());

it("makes one function for a bundle, with its role, without environment, and asks it once", async () => {
  const { lambda, open } = opened;
  const handle = await open().load(echo());
  expect(await handle.call("echo", [1, 2], FAST)).toEqual([{ value: 1 }, { value: 2 }]);
  const { configuration, files, tags } = onlyFunction(lambda);
  expect(configuration).toMatchObject({
    Runtime: "nodejs24.x",
    Architectures: ["arm64"],
    Handler: "index.handler",
    Role: "arn:aws:iam::000000000000:role/spotter-test-user-code",
    MemorySize: 1_024,
    Timeout: 900,
  });
  expect(configuration).not.toHaveProperty("Environment");
  expect(configuration).not.toHaveProperty("VpcConfig");
  expect(String(configuration["FunctionName"])).toMatch(/^spotter-test-isolate-[0-9a-f]{24}$/);
  expect([...files.keys()]).toEqual(["index.mjs", "settings.json", "user-code.txt"]);
  expect(tags).toMatchObject({ "spotter:stack": "spotter-test", "spotter:kind": "isolate" });
  expect([callsOf(lambda, "CreateFunction"), callsOf(lambda, "Invoke"), lambda.coldStarts]).toEqual([
    1, 2, 1,
  ]);
});

it("finds the function that another control plane made, and makes another for other grants", async () => {
  const { lambda, open } = opened;
  await open().load(echo("row", { KEY: "value-one" }));
  await open().load(echo("row", { KEY: "value-one" }));
  expect(lambda.functions.size).toBe(1);
  const further = [
    echo("row", { KEY: "value-two" }),
    echo(),
    { ...echo(), allowHosts: ["example.com"] },
    echo("row + 1"),
  ];
  for (const [index, each] of further.entries()) {
    await open().load(each);
    expect(lambda.functions.size).toBe(index + 2);
  }
  await open({ memoryMiB: 128 }).load(echo());
  await open({ stack: "spotter-other" }).load(echo());
  expect(lambda.functions.size).toBe(7);
});

it("makes it once where two control planes load it at the same moment", async () => {
  const { lambda, open } = opened;
  const handles = await Promise.all([open().load(echo()), open().load(echo())]);
  for (const handle of handles) expect(await handle.call("echo", [7], FAST)).toEqual([{ value: 7 }]);
  onlyFunction(lambda);
});

it("puts secrets into invocations and nowhere else", async () => {
  const { lambda, printed, open } = opened;
  const value = "s3cret-value-of-the-user";
  const bundle = echo(`(console.log("have", secrets.KEY), secrets.KEY.length)`, { KEY: value });
  const handle = await open().load(bundle);
  expect(await handle.call("echo", [1], FAST)).toEqual([{ value: value.length }]);
  const withSecret = lambda.calls.filter(({ body }) => body.includes(value));
  expect(withSecret.map(({ operation }) => operation)).toEqual(["Invoke"]);
  const { configuration, files, tags } = onlyFunction(lambda);
  const stored = JSON.stringify([configuration, tags]) + [...files.values()].join("\n");
  expect(stored).not.toContain(value);
  expect(printed).toEqual(["have [secret KEY]"]);
});

it("keeps the role's credentials and the host's environment from user code", async () => {
  const { open } = opened;
  const look = `import("node:fs").then((fs) => {
    const seen = [Object.keys(process.env).length];
    for (const file of ["/proc/self/environ", "/proc/" + process.ppid + "/environ"]) {
      try { seen.push(fs.readFileSync(file, "utf8")); } catch (error) { seen.push(error.code); }
    }
    return seen;
  })`;
  const handle = await open().load(echo(look));
  const denied = "ERR_ACCESS_DENIED";
  expect(await handle.call("echo", [1], FAST)).toEqual([{ value: [0, denied, denied] }]);
});

it("waits while Lambda makes the function", async () => {
  const { lambda, open } = opened;
  lambda.pendingMs = 400;
  const handle = await open().load(echo());
  expect(await handle.call("echo", [1], FAST)).toEqual([{ value: 1 }]);
  expect(callsOf(lambda, "GetFunctionConfiguration")).toBeGreaterThan(1);
  expect(lambda.calls.at(-1)?.operation).toBe("Invoke");
});

it("waits for a role that Lambda does not see yet, and says what is wrong after that", async () => {
  const { lambda, open } = opened;
  const message = "The role defined for the function cannot be assumed by Lambda.";
  lambda.refuse("CreateFunction", 2, "InvalidParameterValueException", 400, message);
  await open().load(echo());
  expect(callsOf(lambda, "CreateFunction")).toBe(3);
  lambda.refuse("CreateFunction", 1, "AccessDeniedException", 403, "no");
  await expect(open().load(echo("row + 1"))).rejects.toMatchObject({ code: "aws_denied" });
  lambda.refuse("CreateFunction", 1, "CodeStorageExceededException", 400, "full");
  await expect(open().load(echo("row + 1"))).rejects.toMatchObject({ code: "capacity" });
  lambda.pendingMs = 60_000;
  await expect(open({ patienceMs: 300 }).load(echo("row + 2"))).rejects.toMatchObject({ code: "capacity" });
});

it("makes a function again that was deleted meanwhile", async () => {
  const { lambda, open } = opened;
  const handle = await open().load(echo());
  lambda.functions.clear();
  expect(await handle.call("echo", [5], FAST)).toEqual([{ value: 5 }]);
  onlyFunction(lambda);
});

it("sweeps what nobody has loaded for two weeks, and nothing of other stacks", async () => {
  const { lambda, open } = opened;
  let nowMs = Date.parse("2026-11-30T12:00:00Z");
  const now = () => nowMs;
  await open({ now }).load(echo());
  await open({ now, stack: "spotter-test-2" }).load(echo());
  await open({ now }).load(echo("row + 1"));
  const [unused = "", other = "", used = ""] = lambda.functions.keys();
  nowMs += 14 * DAY_MS;
  await open({ now }).load(echo("row + 1"));
  const sweep = { client: opened.client(), stack: "spotter-test", now };
  expect(await sweepUnused(sweep)).toEqual({ deleted: [], failed: [] });
  nowMs += DAY_MS;
  expect(await sweepUnused(sweep)).toEqual({ deleted: [unused], failed: [] });
  expect([...lambda.functions.keys()]).toEqual([other, used]);
});

it("says what it does not enforce", () => {
  const { open } = opened;
  const network = { subnetIds: ["subnet-1"], securityGroupIds: ["sg-1"] };
  expect(open().notes).toEqual([OPEN_NETWORK, CALLED_OFF]);
  expect(open({ network }).notes).toEqual([CALLED_OFF]);
});

it("puts the functions into the subnets it is given", async () => {
  const { lambda, open } = opened;
  await open({ network: { subnetIds: ["subnet-1"], securityGroupIds: ["sg-1"] } }).load(echo());
  expect(onlyFunction(lambda).configuration["VpcConfig"]).toEqual({
    SubnetIds: ["subnet-1"],
    SecurityGroupIds: ["sg-1"],
  });
});
