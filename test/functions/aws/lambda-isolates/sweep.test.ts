import { LambdaClient } from "@aws-sdk/client-lambda";
import { expect, it, onTestFinished, vi } from "vitest";
import { sweepIsolates } from "../../../../functions/aws/aws-deps/isolate-sweep.ts";
import { sweepUnused, type SweepUnusedParams } from "../../../../functions/aws/lambda-isolates/sweep.ts";
import { startFakeAws, type FakeAws } from "../../../fakes/aws/index.ts";

const STACK = "spotter-test";
const NOW_MS = Date.parse("2026-11-30T12:00:00Z");
const HOUR_MS = 3_600_000;
const USED = { "spotter:stack": STACK, "spotter:used": "2026-11-29" };
const UNUSED = { "spotter:stack": STACK, "spotter:used": "2026-11-01" };

/** An account with this many functions that nobody has loaded of late, among others of other people. */
async function account(count: number): Promise<{ aws: FakeAws; params: SweepUnusedParams }> {
  const aws = await startFakeAws();
  const client = new LambdaClient({ ...aws.clientConfig, maxAttempts: 1 });
  onTestFinished(async () => {
    client.destroy();
    await aws.close();
  });
  for (let index = 0; index < count; index++) {
    const number = String(index).padStart(4, "0");
    aws.functionTags.set(`a-function-of-others-${number}`, {});
    aws.functionTags.set(`${STACK}-isolate-${number}`, UNUSED);
  }
  return { aws, params: { client, stack: STACK, now: () => NOW_MS, patienceMs: 500 } };
}

const ours = ({ functionTags }: FakeAws) => [...functionTags.keys()].filter((name) => name.startsWith(STACK));

it("goes through a large account by shares, and comes to everything", async () => {
  const { aws, params } = await account(130);
  let marker: string | undefined;
  const shares: number[] = [];
  do {
    const before = aws.calls.length;
    const swept = await sweepUnused({ ...params, marker, pages: 2 });
    shares.push(swept.deleted.length);
    expect(aws.calls.length - before).toBeLessThanOrEqual(2 + 2 * 100);
    marker = swept.marker;
  } while (marker !== undefined);
  expect(shares).toEqual([0, 70, 60]);
  expect(ours(aws)).toEqual([]);
  expect(aws.functionTags.size).toBe(130);
});

it("leaves alone what was loaded, what has no mark of its use, and what only looks like one of this stack", async () => {
  const { aws, params } = await account(0);
  aws.functionTags.set(`${STACK}-isolate-used`, USED);
  aws.functionTags.set(`${STACK}-isolate-new`, { "spotter:stack": STACK });
  aws.functionTags.set(`${STACK}-isolate-other`, { ...UNUSED, "spotter:stack": "another" });
  aws.functionTags.set("another-isolate-1", UNUSED);
  expect(await sweepUnused(params)).toEqual({ deleted: [], failed: [] });
  expect(aws.functionTags.size).toBe(4);
});

it("begins again where nobody knows its place in the list any more", async () => {
  const { params } = await account(1);
  const swept = await sweepUnused({ ...params, marker: "long ago" });
  expect(swept.deleted).toHaveLength(1);
});

it("goes on past a function that cannot be deleted, and tells of it", async () => {
  const { aws, params } = await account(3);
  aws.control.failNext("DeleteFunction", { error: "InvalidParameterValueException", message: "replicated" });
  const swept = await sweepUnused(params);
  expect(swept.deleted).toHaveLength(2);
  expect(swept.failed).toMatchObject([{ error: expect.stringContaining("replicated") as string }]);
});

it("gives up for this time while Lambda is too busy, instead of waiting for each function", async () => {
  const { aws, params } = await account(40);
  aws.control.fail("ListTags", { error: "TooManyRequestsException", status: 429 }, { probability: 1 });
  await expect(sweepUnused(params)).rejects.toMatchObject({ code: "aws_throttled" });
  expect(aws.calls.filter(({ operation }) => operation === "ListTags").length).toBeLessThan(10);
});

it("begins no further page where each call is slow, and goes on from there", async () => {
  const { aws, params } = await account(60);
  let nowMs = NOW_MS;
  const slow = { ...params, now: () => (nowMs += 30_000) };
  const deleted: number[] = [];
  let marker: string | undefined;
  do {
    const swept = await sweepUnused({ ...slow, marker });
    deleted.push(swept.deleted.length);
    marker = swept.marker;
  } while (marker !== undefined);
  // Pages of fifty: others only, others and ours, ours.
  expect(deleted).toEqual([0, 40, 20]);
  expect(ours(aws)).toEqual([]);
});

it("says which rights it lacks", async () => {
  const { aws, params } = await account(1);
  aws.control.failNext("ListFunctions", { error: "AccessDeniedException", status: 403 });
  await expect(sweepUnused(params)).rejects.toMatchObject({
    code: "aws_denied",
    hint: expect.stringContaining("lambda:ListFunctions") as string,
  });
});

it("looks once an hour, goes on where it was, and survives its failures", async () => {
  const { aws } = await account(130);
  vi.stubEnv("AWS_ENDPOINT_URL_LAMBDA", aws.endpoint);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  onTestFinished(() => void vi.unstubAllEnvs());
  let nowMs = NOW_MS;
  const errors: string[] = [];
  const log = { info: () => {}, warn: () => {}, error: (message: string) => errors.push(message) };
  const params = { stack: STACK, clock: { now: () => nowMs }, log };
  const first = await sweepIsolates(params, undefined);
  expect(first).toMatchObject({ atMs: NOW_MS, marker: expect.any(String) as string });
  const calls = aws.calls.length;
  for (let minute = 1; minute < 60; minute++) {
    nowMs = NOW_MS + minute * 60_000;
    expect(await sweepIsolates(params, first)).toBe(first);
  }
  expect(aws.calls.length).toBe(calls);
  nowMs = NOW_MS + HOUR_MS;
  aws.control.failNext("ListFunctions", { error: "AccessDeniedException", status: 403 });
  const second = await sweepIsolates(params, first);
  expect([second, errors]).toEqual([{ ...first, atMs: nowMs }, ["the sweep of user code failed"]]);
  nowMs += HOUR_MS;
  expect(await sweepIsolates(params, second)).toEqual({ atMs: nowMs });
  expect(ours(aws)).toEqual([]);
  // A clock that was set back by days does not put it off until it has caught up.
  const calledBefore = aws.calls.length;
  nowMs -= 3 * 24 * HOUR_MS;
  await sweepIsolates(params, second);
  expect(aws.calls.length).toBeGreaterThan(calledBefore);
});
