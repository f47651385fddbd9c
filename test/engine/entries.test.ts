import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { jobSpec } from "../../sdk/schema/job.ts";
import { score, startFakeControlPlane, type FakeControlPlane } from "./fake-control-plane.ts";
import { writeTinyModel } from "./onnx/fixtures/tiny-model.ts";
import { promptRow } from "./training/fake-engine.ts";

let dir: string;
let plane: FakeControlPlane;
let child: ChildProcess | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-entry-"));
  plane = await startFakeControlPlane(dir);
});
afterEach(async () => {
  if (child?.exitCode === null) child.kill("SIGKILL");
  await plane[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
});

async function exitOf(entry: string, whileItRuns?: (child: ChildProcess) => void): Promise<unknown> {
  const program = join(import.meta.dirname, "..", "..", "engine", entry);
  child = spawn(process.execPath, [program], { env: { ...plane.env }, stdio: "ignore" });
  whileItRuns?.(child);
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

const job = { protocol: 1, id: "job-1", attempt: 0, heartbeatEveryMs: 50, threads: 1 };
const rewards = { code: { sha256: "0".repeat(64) } };
const rows = ["one", "two"].map((text) => promptRow(text));
const jsonl = rows.map((row) => JSON.stringify(row)).join("\n");

describe("container entries", () => {
  it("train: SIGTERM saves what was learnt and ends the process", async () => {
    const modelDir = await writeTinyModel(join(dir, "model"));
    plane.job = z.parse(jobSpec, {
      ...job,
      kind: "train",
      runId: "run-1",
      dataset: plane.addFile("train.jsonl", jsonl),
      spec: {
        kind: "rl",
        model: { name: modelDir },
        dataset: { sha256: "0".repeat(64), rows: 2 },
        rewards,
        rollout: { promptsPerStep: 2, samplesPerPrompt: 4, maxTokens: 6 },
        algorithm: { kind: "grpo" },
        trainer: { steps: 1_000_000, learningRate: 1e-4 },
      },
    });
    let judged = 0;
    const code = await exitOf("train.ts", (process) => {
      plane.judge = (batch) => {
        if (++judged === 3) process.kill("SIGTERM");
        return batch.map((row) => score(row.completion.tokens + row.response.content.length));
      };
    });
    expect(code).toBe(0);
    expect(plane.events.at(-1)).toEqual({ type: "exit", outcome: "cancelled" });
    const [checkpoint] = [...plane.checkpoints.values()];
    expect(checkpoint).toMatchObject({ complete: true, kind: "full" });
    expect(checkpoint?.step).toBeGreaterThanOrEqual(2);
    expect([...(checkpoint?.files.keys() ?? [])]).toEqual(
      expect.arrayContaining(["model/model.safetensors", "model/tokenizer.json", "trainer/state.json"]),
    );
  }, 30_000);

  it("eval: asks, judges, reports and ends the process", async () => {
    plane.job = z.parse(jobSpec, {
      ...job,
      kind: "eval",
      evalId: "eval-1",
      dataset: plane.addFile("eval.jsonl", jsonl),
      spec: { endpoint: "base", dataset: { sha256: "0".repeat(64), rows: 2 }, rewards, samplesPerRow: 3 },
      chatUrl: `${plane.url}/v1`,
      model: "base",
    });
    plane.chat = () => ({ choices: [{ message: { content: "x" }, finish_reason: "stop" }] });
    expect(await exitOf("eval.ts")).toBe(0);
    const rows = plane.events.flatMap((event) => (event.type === "eval-rows" ? event.rows : []));
    expect(rows.length).toBe(6);
    expect(plane.events.at(-1)).toEqual({ type: "exit", outcome: "succeeded" });
  }, 30_000);
});
