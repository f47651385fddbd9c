import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TrainBatch } from "../../../../engine/onnx/engine-api.ts";
import { Policy } from "../../../../engine/onnx/models/policy.ts";

/** Written by test/reference/llama_gradients.py. */
export interface Case {
  name: string;
  model: string;
  adapter: boolean;
  batch: Omit<TrainBatch, "learningRate" | "microBatchSize">;
  expected: {
    loss: number;
    entropy: number;
    clipFraction: number;
    kl?: number;
    tokens: number;
    gradNorm: number;
    logprobs: number[][];
  };
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../../fixtures/engine/${name}`, import.meta.url));
}

export function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(fixture(name), "utf8"));
}

export function cases(): Case[] {
  return readFixture("cases.json") as Case[];
}

export function loadCase({ model, adapter }: Case): Promise<Policy> {
  return Policy.load(fixture(model), adapter ? { adapterDir: fixture("adapter") } : {});
}

/** max |a - b| / max |b|: the measure all agreement with PyTorch is given in. */
export function relativeError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let difference = 0;
  let scale = 0;
  for (let i = 0; i < b.length; i++) {
    difference = Math.max(difference, Math.abs((a[i] ?? NaN) - (b[i] ?? NaN)));
    scale = Math.max(scale, Math.abs(b[i] ?? NaN));
  }
  return a.length === b.length ? difference / scale : Infinity;
}
