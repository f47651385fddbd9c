// One LoRA training step of the embedded engine, and the best matrix product of its runtime:
//   node train-step.ts MODEL_DIR THREADS BATCH POSITIONS RANK
import { Tensor } from "onnxruntime-node";
import { Graph } from "../../engine/onnx/graph/graph.ts";
import { GraphSession } from "../../engine/onnx/graph/session.ts";
import { PROJECTIONS } from "../../engine/onnx/models/llama-parameters.ts";
import { Policy } from "../../engine/onnx/models/policy.ts";
import { Trainer } from "../../engine/onnx/train/trainer.ts";
import { median } from "../figures.ts";
import { matrixProductGraph } from "./matrix-product.ts";

const [modelDir = "", threads = 2, batch = 8, positions = 64, rank = 16] = process.argv
  .slice(2)
  .map((value, index) => (index === 0 ? value : Number(value))) as [string, number, number, number, number];

const policy = await Policy.load(modelDir);
const trainer = await Trainer.create(
  policy,
  {
    lora: { rank, alpha: rank * 2, targets: [...PROJECTIONS] },
    optimizer: { type: "adamw", beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 },
    reference: false,
    seed: 1,
  },
  { threads },
);
const sequences = Array.from({ length: batch }, (_, row) => ({
  ids: Array.from(
    { length: positions + 1 },
    (_, index) => (row * 977 + index * 7919) % policy.config.vocabularySize,
  ),
  mask: Array.from({ length: positions + 1 }, (_, index) => (index === 0 ? 0 : 1)),
  advantages: Array.from({ length: positions + 1 }, () => 1),
}));
const times: number[] = [];
for (let round = 0; round < 9; round++) {
  const startedAt = performance.now();
  await trainer.step({
    sequences,
    loss: "sft",
    clipLow: 0.2,
    clipHigh: 0.2,
    klCoef: 0,
    temperature: 1,
    learningRate: 1e-4,
    microBatchSize: batch,
  });
  if (round >= 2) times.push(performance.now() - startedAt);
}
const peakRssMiB = process.resourceUsage().maxRSS / 1024;
const stepMs = median(times);
const { hiddenSize, layers, heads, keyValueHeads, headSize, feedForwardSize, vocabularySize } = policy.config;
const linear =
  layers *
    (hiddenSize * headSize * (heads + 2 * keyValueHeads) +
      heads * headSize * hiddenSize +
      3 * hiddenSize * feedForwardSize) +
  vocabularySize * hiddenSize;
// Frozen weights cost a product forward and one backward (towards the input), 2 FLOP per weight and token each.
const stepFlop = 4 * linear * batch * positions;

let bestFlopPerS = 0;
for (const size of [512, 1024, 2048]) {
  const session = await GraphSession.create(matrixProductGraph(new Graph(), size), { threads });
  const operand = (): Tensor => new Tensor("float32", new Float32Array(size * size).fill(0.5), [size, size]);
  const feeds = { a: operand(), b: operand() };
  const elapsed: number[] = [];
  for (let round = 0; round < 12; round++) {
    const startedAt = performance.now();
    await session.run(feeds, { product: null });
    elapsed.push(performance.now() - startedAt);
  }
  bestFlopPerS = Math.max(bestFlopPerS, (2 * size ** 3) / (Math.min(...elapsed) / 1000));
  await session.close();
}
process.stdout.write(
  `${JSON.stringify({ stepMs, tokensPerS: (batch * positions * 1000) / stepMs, peakRssMiB, peakFraction: stepFlop / (stepMs / 1000) / bestFlopPerS })}\n`,
);
