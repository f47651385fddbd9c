import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createWorkerdIsolates } from "../../../../functions/local/workerd-isolates/index.ts";
import type { IsolateBundle, Isolates } from "../../../../functions/ports/isolates.ts";
import { bundleUserCode } from "../../../../sdk/user-code/bundle.ts";
import { callsOf, echo, openLambda, type OpenLambda } from "./open-lambda.ts";

vi.setConfig({ testTimeout: 20_000 });
const FAST = { timeoutMs: 10_000 };
const HAIKU = new URL("../../../../examples/haiku/", import.meta.url);
const POEMS = [
  "an old silent pond\na frog jumps into the pond\nsplash then silence again",
  "an old silent pond\na frog jumps into the pond\nsplash silence again",
  "two lines\nonly",
  "",
];

let opened: OpenLambda;
let haiku: IsolateBundle;
beforeAll(async () => {
  opened = await openLambda();
  haiku = { ...(await bundleUserCode(new URL("rewards.ts", HAIKU))), secrets: {} };
});
afterAll(() => opened.close());

/** Poems of the training set's topics, as the trainer hands them to rewards. */
function haikuRows(count: number): unknown[] {
  const lines = readFileSync(new URL("train.jsonl", HAIKU), "utf8").trim().split("\n");
  return Array.from({ length: count }, (_, index) => ({
    row: JSON.parse(lines[index % lines.length] ?? "{}") as unknown,
    metadata: {},
    variables: {},
    response: { content: `${POEMS[index % POEMS.length]}${index % 7}`, reasoning: "", toolCalls: [] },
    completion: { tokens: 24, finishReason: "stop" },
    messages: [],
  }));
}

async function scores(isolates: Isolates, count: number) {
  const handle = await isolates.load(haiku);
  return handle.callAll(["haiku", "topic"], haikuRows(count), FAST);
}

it("scores poems exactly as workerd does, from the same bundle", async () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-isolates-"));
  const workerd = createWorkerdIsolates({ workDir: folder });
  try {
    const here = await scores(opened.open({ memoryMiB: 256 }), 100);
    expect(here).toEqual(await scores(workerd, 100));
    expect(new Set(here.flat().map((each) => JSON.stringify(each))).size).toBeGreaterThan(3);
  } finally {
    await workerd.close();
    rmSync(folder, { recursive: true });
  }
});

it("judges 500 rows in eight invocations of an environment that is warm", async () => {
  const { lambda, open } = opened;
  const isolates = open({ memoryMiB: 256 });
  await scores(isolates, 1);
  const before = callsOf(lambda, "Invoke");
  const startedMs = performance.now();
  const [results] = await scores(isolates, 500);
  const ms = performance.now() - startedMs;
  expect(results).toHaveLength(500);
  expect(results?.every((each) => "value" in each)).toBe(true);
  expect(callsOf(lambda, "Invoke") - before).toBe(8);
  // Some 100 ms on an idle machine; the bound finds a cold start for each call.
  expect(ms).toBeLessThan(5_000);
});

it("lets several judges work at once, up to the most, and mixes up none of their rows", async () => {
  const { lambda, open } = opened;
  const wait = "new Promise((resolve) => setTimeout(resolve, 100, row))";
  const handle = await open({ maxConcurrency: 3 }).load(echo(wait));
  // Code that is called seldom has one lane.
  for (let i = 0; i < 16; i++) await handle.call("echo", [], FAST);
  lambda.mostAtOnce = 0;
  const judges = Array.from({ length: 24 }, (_, judge) => handle.call("echo", [judge, judge + 0.5], FAST));
  const all = await Promise.all(judges);
  expect(all).toEqual(Array.from({ length: 24 }, (_, judge) => [{ value: judge }, { value: judge + 0.5 }]));
  expect(lambda.mostAtOnce).toBe(3);
});
