import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SsmSecrets } from "../../../functions/aws/ssm-secrets.ts";
import { createRedactor } from "../../../functions/secrets/redactor.ts";
import { type FakeClock, fakeClock } from "../../fakes/clock.ts";
import { type FakeSsm, fakeSsm } from "../../fakes/ssm.ts";

let ssm: FakeSsm;
let clock: FakeClock;
let secrets: SsmSecrets;
const opened: SsmSecrets[] = [];

beforeAll(async () => {
  ssm = await fakeSsm();
});
beforeEach(() => {
  ssm.parameters.clear();
  ssm.calls.length = 0;
  clock = fakeClock();
  secrets = another();
});
afterAll(async () => {
  for (const each of opened) await each.close();
  await ssm.close();
});

/** Another process of the same stack, or of another one. */
function another(stack = "spotter-dev"): SsmSecrets {
  const created = new SsmSecrets({ stack, clock, maxAttempts: 2, ...ssm.clientConfig });
  opened.push(created);
  return created;
}

const calls = (operation: string) => ssm.calls.filter((call) => call.operation === operation);

it("keeps each encrypted below the path of its stack", async () => {
  await secrets.set("HF_TOKEN", "hf_0123456789");
  expect([...ssm.parameters]).toMatchObject([
    ["/spotter-dev/secrets/HF_TOKEN", { type: "SecureString", tier: "Standard", value: "hf_0123456789" }],
  ]);
  expect(await another("spotter-prod").list()).toEqual([]);
});

it("lists and resolves more than SSM gives at once, in few calls", async () => {
  const names = Array.from({ length: 23 }, (_, n) => `NAME_${String(n).padStart(2, "0")}`);
  for (const name of names) await secrets.set(name, `value of ${name}`);
  expect(await secrets.list()).toEqual(names);
  expect(calls("GetParametersByPath")).toHaveLength(3);
  expect(calls("GetParametersByPath").every(({ input }) => input.WithDecryption === false)).toBe(true);
  const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  expect(await secrets.resolve([...names, ...names])).toEqual(values);
  expect(calls("GetParameters")).toHaveLength(3);
});

describe("a value's size", () => {
  it("up to 4 KB is standard, up to 8 KB advanced, and going back to less is no error", async () => {
    const tier = async (value: string) => {
      await secrets.set("KEY", value);
      expect(await secrets.resolve(["KEY"])).toEqual({ KEY: value });
      return ssm.parameters.get("/spotter-dev/secrets/KEY")?.tier;
    };
    expect(await tier("x".repeat(4096))).toBe("Standard");
    expect(await tier("x".repeat(4097))).toBe("Advanced");
    expect(await tier("ü".repeat(4096))).toBe("Advanced");
    expect(await tier("short")).toBe("Advanced");
  });

  it("above that is refused, with the limit, and so is none", async () => {
    await expect(secrets.set("KEY", "x".repeat(8193))).rejects.toMatchObject({
      code: "invalid_input",
      where: "KEY",
      message: "The value of KEY has 8193 bytes; SSM keeps at most 8192.",
    });
    await expect(secrets.set("KEY", "")).rejects.toMatchObject({ code: "invalid_input", where: "KEY" });
    expect(ssm.calls).toEqual([]);
  });
});

describe("a value read a moment ago", () => {
  it("is not asked for again for five seconds", async () => {
    await secrets.set("A", "value-1");
    await secrets.resolve(["A"]);
    await another().set("A", "value-2");
    clock.advance(4_999);
    expect(await secrets.resolve(["A"])).toEqual({ A: "value-1" });
    expect(calls("GetParameters")).toHaveLength(1);
    clock.advance(1);
    expect(await secrets.resolve(["A"])).toEqual({ A: "value-2" });
  });

  it("is asked for again where the clock was set back", async () => {
    clock.advance(86_400_000);
    await secrets.set("A", "value-1");
    await secrets.resolve(["A"]);
    await another().set("A", "value-2");
    clock.advance(-3_600_000);
    expect(await secrets.resolve(["A"])).toEqual({ A: "value-2" });
  });

  it("is shared by those who ask at the same time", async () => {
    await secrets.set("A", "value-a");
    const values = await Promise.all(Array.from({ length: 50 }, () => secrets.resolve(["A"])));
    expect(new Set(values.map(({ A }) => A))).toEqual(new Set(["value-a"]));
    expect(calls("GetParameters")).toHaveLength(1);
  });

  it("is forgotten at once by the process that changes or removes it", async () => {
    await secrets.set("A", "value-1");
    const [before] = await Promise.all([secrets.resolve(["A"]), secrets.set("A", "value-2")]);
    expect(["value-1", "value-2"]).toContain(before.A);
    expect(await secrets.resolve(["A"])).toEqual({ A: "value-2" });
    await secrets.remove("A");
    await expect(secrets.resolve(["A"])).rejects.toMatchObject({ code: "not_found", where: "A" });
  });

  it("is asked for again after it was missing or could not be read", async () => {
    await expect(secrets.resolve(["A"])).rejects.toMatchObject({ code: "not_found" });
    await another().set("A", "value-a");
    ssm.failures.failNext("GetParameters", { error: "AccessDeniedException" });
    await expect(secrets.resolve(["A"])).rejects.toMatchObject({ code: "aws_denied" });
    expect(await secrets.resolve(["A"])).toEqual({ A: "value-a" });
  });
});

it("hides what it set, resolved or learned, and what another process set after it learned again", async () => {
  await another().set("LEARNED", "learned-secret");
  await another().set("RESOLVED", "resolved-secret");
  await secrets.resolve(["RESOLVED"]);
  expect(secrets.redact("resolved-secret, learned-secret")).toBe("[redacted], learned-secret");
  await Promise.all([secrets.learn(), secrets.learn()]);
  expect(calls("GetParametersByPath")).toHaveLength(1);
  expect(secrets.redact("learned-secret")).toBe("[redacted]");
  await another().set("LATER", "later-secret");
  await secrets.learn();
  expect(secrets.redact("later-secret")).toBe("later-secret");
  clock.advance(30_000);
  await secrets.learn();
  expect(secrets.redact("later-secret")).toBe("[redacted]");
});

it("shares what it knows with the redactor of the logs", async () => {
  const redactor = createRedactor();
  const own = new SsmSecrets({ stack: "spotter-dev", clock, redactor, ...ssm.clientConfig });
  opened.push(own);
  await own.set("A", "value-of-a");
  expect(redactor.redact("value-of-a")).toBe("[redacted]");
});

it("gives what SSM refuses a code", async () => {
  ssm.failures.failNext("PutParameter", { error: "AccessDeniedException" });
  await expect(secrets.set("A", "value-a")).rejects.toMatchObject({
    code: "aws_denied",
    where: "/spotter-dev/secrets/",
    hint: expect.stringContaining("ssm:PutParameter") as string,
  });
  ssm.failures.fail("GetParametersByPath", { error: "ThrottlingException" }, { count: 2 });
  await expect(secrets.list()).rejects.toMatchObject({ code: "aws_throttled", retryable: true });
  ssm.failures.failNext("GetParametersByPath", { error: "ThrottlingException" });
  expect(await secrets.list()).toEqual([]);
});

it("refuses a stack that SSM would refuse", () => {
  for (const stack of ["", "aws-dev", "SSM", "a/b"]) {
    expect(() => new SsmSecrets({ stack, clock })).toThrow("cannot name a stack");
  }
});
