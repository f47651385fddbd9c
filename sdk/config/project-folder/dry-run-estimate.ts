import { readFileSync, statSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { isAbsolute, join } from "node:path";
import { secondsPerStep, rowTokens, totalMiB, trainingMemory } from "../../schema/engine-estimate.ts";
import { NANO_SHAPE, shapeOf, type ModelShape } from "../../schema/model-shape.ts";
import type { RunSpec } from "../../schema/run-spec.ts";

/** What a run would take on this machine, by its model's size alone. */
export interface DryRunEstimate {
  seconds: number;
  neededMiB: number;
  availableMiB: number;
}

/**
 * Asks nobody and starts nothing; undefined where the model is not at hand, or another engine trains. `trainFile`: the
 * rows, whose length counts.
 */
export function dryRunEstimate(spec: RunSpec, trainFile: string): DryRunEstimate | undefined {
  const shape = spec.engine === "onnx" ? shapeAt(spec.model.name) : undefined;
  if (shape === undefined) return undefined;
  const tokens = rowTokens({ rows: spec.dataset.rows, bytes: statSync(trainFile).size });
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return {
    seconds: Math.ceil(spec.trainer.steps * secondsPerStep(spec, shape, tokens, availableParallelism())),
    neededMiB: totalMiB(trainingMemory(spec, shape, tokens)),
    availableMiB: Math.floor(total / 2 ** 20),
  };
}

/** "Estimated on this machine: …" */
export function dryRunEstimateText({ seconds, neededMiB, availableMiB }: DryRunEstimate): string {
  const time = seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toPrecision(2)} h`;
  const count = (value: number) => value.toLocaleString("en-US");
  return `Estimated on this machine: about ${time}, and ${count(neededMiB)} of ${count(availableMiB)} MiB of memory.`;
}

function shapeAt(name: string): ModelShape | undefined {
  if (name === "spotter/nano") return NANO_SHAPE;
  if (!isAbsolute(name)) return undefined;
  try {
    return shapeOf(JSON.parse(readFileSync(join(name, "config.json"), "utf8")));
  } catch {
    return undefined;
  }
}
