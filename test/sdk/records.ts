import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { evalRollout, type EvalRecord } from "../../sdk/schema/eval.ts";
import { runSpec } from "../../sdk/schema/run-spec.ts";
import type { Run, RunDetail } from "../../sdk/schema/run.ts";

export const HASH = "0123456789abcdef".repeat(4);

export function endpointRecord(over: Partial<Endpoint> = {}): Endpoint {
  return {
    v: 1,
    name: "nano",
    model: { name: "spotter/nano" },
    engine: "onnx",
    public: false,
    state: "ready",
    revision: 1,
    desired: 1,
    replicas: [],
    startFailures: 0,
    createdAtMs: 1,
    url: "http://127.0.0.1:7717/v1",
    ...over,
  };
}

export function runRecord(over: Partial<Run> = {}): Run {
  return {
    v: 1,
    id: "run1",
    tags: [],
    kind: "rl",
    model: "spotter/nano",
    state: "running",
    step: 3,
    steps: 10,
    attempt: 1,
    cancelRequested: false,
    metrics: { reward: -2 },
    createdAtMs: 1,
    ...over,
  };
}

export function runDetailOf(over: Partial<Run> = {}): RunDetail {
  const spec = runSpec.parse({
    kind: "rl",
    model: { name: "spotter/nano" },
    dataset: { sha256: HASH, rows: 1 },
    rewards: { code: { sha256: HASH } },
    algorithm: { kind: "grpo" },
    trainer: { steps: 10 },
  });
  return { run: runRecord(over), spec, url: "http://127.0.0.1:7717/ui/runs/run1" };
}

export function checkpointRecord(step: number, over: Partial<Checkpoint> = {}): Checkpoint {
  return {
    v: 1,
    id: `run1@${step}`,
    runId: "run1",
    step,
    attempt: 1,
    kind: "full",
    model: { name: "spotter/nano" },
    files: [],
    createdAtMs: 1,
    path: `/tmp/run1@${step}`,
    ...over,
  };
}

export function evalRecordOf(over: Partial<EvalRecord> = {}): EvalRecord {
  return {
    v: 1,
    id: "eval1",
    spec: {
      endpoint: "nano",
      dataset: { sha256: HASH, rows: 2 },
      rewards: { code: { sha256: HASH, secrets: [] }, timeoutMs: 10_000, maxMissingShare: 0.2 },
      rollout: evalRollout.parse({}),
      samplesPerRow: 1,
      passAt: [],
      passThreshold: 1,
      concurrency: 16,
      chatOptions: {},
      seed: 0,
    },
    state: "running",
    attempt: 1,
    done: 0,
    total: 2,
    missing: 0,
    failed: 0,
    scores: {},
    passes: {},
    createdAtMs: 1,
    ...over,
  };
}
