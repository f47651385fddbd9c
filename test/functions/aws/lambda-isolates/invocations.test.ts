import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { IsolateResult } from "../../../../functions/ports/isolates.ts";
import { callsOf, echo, onlyFunction, openLambda, type OpenLambda } from "./open-lambda.ts";

const FAST = { timeoutMs: 5_000 };
// Real processes, on a machine that others use too.
vi.setConfig({ testTimeout: 20_000 });

let opened: OpenLambda;
beforeEach(async () => {
  opened = await openLambda();
});
afterEach(() => opened.close());

const codes = (results: IsolateResult[]) =>
  results.map((each) => ("error" in each ? each.error.code : each.value));

/** A host that does `harm` where a row is "bad"; it runs user code never. */
const brokenHost = (harm: string) => `
const described = { exports: [{ name: "echo", kind: "reward" }], others: [], joint: true };
export const handler = async ({ head, rows }) => {
  if (!head) return { status: 200, json: described, output: "" };
  if (rows.includes("bad")) { ${harm} }
  return { status: 200, json: { results: [rows.map((value) => ({ value }))] }, output: "" };
};`;

it.each([
  ["Task timed out", 1, "for (;;);", "reward_timeout"],
  ["Runtime.OutOfMemory", 9, "globalThis.kept = Buffer.alloc(2 ** 28, 1);", "isolate_out_of_memory"],
  ["Runtime.ExitError", 9, "process.exit(7);", "isolate_crashed"],
  ["An unhandled error", 9, `console.log("last words"); throw new Error("broken");`, "isolate_crashed"],
])(
  "%s of Lambda is the verdict of its row, and the others are run again",
  async (_, functionTimeoutS, harm, code) => {
    opened.lambda.mostMemoryMiB = 200;
    const isolates = opened.open({ hostCode: brokenHost(harm), functionTimeoutS });
    const handle = await isolates.load(echo());
    const results = await handle.call("echo", [1, "bad", 3], FAST);
    expect(codes(results)).toEqual([1, code, 3]);
    if (harm.includes("last words")) expect(JSON.stringify(results)).toContain("broken (last words)");
  },
);

it("says which exit code ended the host", async () => {
  const isolates = opened.open({ hostCode: brokenHost("process.exit(7);") });
  const results = await (await isolates.load(echo())).call("echo", ["bad"], FAST);
  expect(JSON.stringify(results)).toContain("exit status 7");
});

it.each([
  ["TooManyRequestsException", 429],
  ["ENILimitReachedException", 502],
  ["EC2ThrottledException", 502],
  ["ResourceConflictException", 409],
  ["ServiceException", 500],
])("repeats an invocation that is refused with %s", async (type, status) => {
  const { lambda, open } = opened;
  const handle = await open().load(echo());
  lambda.refuse("Invoke", 3, type, status);
  expect(await handle.call("echo", [1], FAST)).toEqual([{ value: 1 }]);
  expect(callsOf(lambda, "Invoke")).toBe(5);
});

it("blames no row for Lambda's refusals, and gives up when its patience ends", async () => {
  const { lambda, open } = opened;
  const handle = await open({ patienceMs: 300 }).load(echo());
  lambda.concurrency = 0;
  await expect(handle.call("echo", [1], FAST)).rejects.toMatchObject({ code: "aws_throttled" });
  lambda.concurrency = 1;
  expect(await handle.call("echo", [1], FAST)).toEqual([{ value: 1 }]);
});

it("stops waiting for capacity when the caller leaves", async () => {
  const { lambda, open } = opened;
  const handle = await open().load(echo());
  lambda.concurrency = 0;
  const abort = new AbortController();
  setTimeout(() => abort.abort(new Error("caller left")), 150);
  const startedMs = performance.now();
  await expect(handle.call("echo", [1], { ...FAST, signal: abort.signal })).rejects.toThrow("caller left");
  expect(performance.now() - startedMs).toBeLessThan(3_000);
});

it("sends rows that together are too long in several invocations", async () => {
  const { lambda, open } = opened;
  const handle = await open().load(echo("row.length"));
  const results = await handle.call("echo", Array<string>(12).fill("ü".repeat(500_000)), FAST);
  expect(codes(results)).toEqual(Array(12).fill(500_000));
  const sizes = lambda.calls
    .filter(({ body }) => body.length > 1_000)
    .map(({ body }) => Buffer.byteLength(body));
  expect(sizes.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...sizes)).toBeLessThan(6_291_456);
});

it("has an error for a row that is too long by itself, and verdicts for the others", async () => {
  const handle = await opened.open().load(echo("row.length"));
  const results = await handle.call("echo", ["a", "x".repeat(7_000_000), "bcd"], FAST);
  expect(codes(results)).toEqual([1, "payload_too_large", 3]);
});

it("asks for less where the answers together are too long", async () => {
  const handle = await opened.open().load(echo(`"x".repeat(row)`));
  const results = await handle.call("echo", [1, 3_200_000, 3_200_000, 6_500_000], FAST);
  expect(results.map((each) => ("value" in each ? String(each.value).length : each.error.code))).toEqual([
    1,
    3_200_000,
    3_200_000,
    "payload_too_large",
  ]);
});

it("does not count a cold start as the time of a row", async () => {
  const slow = echo();
  const code = Buffer.from(
    `await new Promise((resolve) => setTimeout(resolve, 900));\n${Buffer.from(slow.code).toString()}`,
  );
  const { lambda, open } = opened;
  const handle = await open().load({ ...slow, code, sha256: "0".repeat(64) });
  for (const { environment } of onlyFunction(lambda).environments) await environment.end();
  expect(await handle.call("echo", [1], { timeoutMs: 200 })).toEqual([{ value: 1 }]);
  expect(lambda.coldStarts).toBe(2);
});

it("starts user code anew where it ended between two calls", async () => {
  const { lambda, open } = opened;
  const handle = await open().load(echo(`(row === "leave" && setTimeout(() => process.exit(), 20), row)`));
  expect(await handle.call("echo", ["leave"], FAST)).toEqual([{ value: "leave" }]);
  await sleep(300);
  expect(await handle.call("echo", [2], FAST)).toEqual([{ value: 2 }]);
  expect(lambda.coldStarts).toBe(1);
});
