// What drawing a token costs beside the model: CPU milliseconds for 32 rows of 49,152 probabilities.
//   node bench/engine/sampling.ts
import { Adjustment } from "../../engine/onnx/sample/adjustment.ts";
import { alternatives, pickToken, type SamplingParams } from "../../engine/onnx/sample/sampler.ts";
import { seededUniform } from "../../engine/onnx/sample/seeded.ts";
import { median } from "../figures.ts";

const ROWS = 32;
const VOCABULARY = 49_152;
const ROUNDS = 15;

const uniform = seededUniform(1);
const logits = Array.from({ length: ROWS }, () =>
  Float32Array.from({ length: VOCABULARY }, () => 3 * normal()),
);
const rows = logits.map((row) => toProbabilities(row.slice()));
const all: SamplingParams = { temperature: 1, topP: 1, topK: 0 };

const figures: Record<string, number> = {
  greedy: measure(rows, (row) => pickToken(row, { ...all, temperature: 0 }, 0)),
  temperature: measure(rows, (row) => pickToken(row, all, uniform())),
  topP: measure(rows, (row) => pickToken(row, { ...all, topP: 0.9 }, uniform())),
  topK: measure(rows, (row) => pickToken(row, { ...all, topK: 50 }, uniform())),
  minP: measure(rows, (row) => pickToken(row, { ...all, minP: 0.05 }, uniform())),
  topLogprobs: measure(rows, (row) => alternatives(row, 20)),
  penalties: measure(logits, (row) => toProbabilities(row.slice())),
};
process.stdout.write(`${JSON.stringify(figures)}\n`);

function measure(data: readonly Float32Array[], work: (row: Float32Array) => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (const row of data) work(row);
    return process.cpuUsage(before).user / 1000;
  });
  return Number(median(times).toFixed(2));
}

/** As a sequence with penalties goes from logits to a row; there are none, so that rows stay as they are. */
function toProbabilities(row: Float32Array): Float32Array {
  return new Adjustment({ promptIds: [], temperature: 0.8, stopIds: [] }).toProbabilities(row);
}

/** Box and Muller's transform. */
function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
