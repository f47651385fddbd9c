// What one container's work needs at most, as the process that does it:
//   node peak-memory.ts '{"modelDir": "…", "positions": 128, …}'
// prints { peakMiB, stepSeconds, sampleSeconds } after two steps of sampling and learning, or of serving alone.
import { startEngine } from "../../engine/onnx/engine-client.ts";
import { loadLlamaConfig } from "../../engine/onnx/models/llama-config.ts";

interface Work {
  modelDir: string;
  threads: number;
  /** Sequences of a step, each of a prompt and `maxTokens`. */
  sequences: number;
  promptTokens: number;
  maxTokens: number;
  microBatchSize: number;
  slots: number;
  /** Absent: serves only. */
  adapter?: { kind: "full" } | { kind: "lora"; rank: number; alpha: number; targets: string[] };
  reference: boolean;
  optimizer: "adamw" | "sgd";
  /** Nothing is sampled, as in supervised fine-tuning. */
  learnsOnly: boolean;
}

const work = JSON.parse(process.argv[2] ?? "{}") as Work;
const { adapter } = work;
const config = await loadLlamaConfig(work.modelDir);
const shared = { weightDecay: 0, maxGradNorm: 1 };
const engine = await startEngine({
  modelDir: work.modelDir,
  threads: work.threads,
  slots: work.slots,
  maxPositions: work.promptTokens + work.maxTokens,
  ...(adapter && {
    trainer: {
      ...(adapter.kind === "lora" && { lora: adapter }),
      optimizer:
        work.optimizer === "adamw"
          ? { ...shared, type: "adamw", beta1: 0.9, beta2: 0.95, epsilon: 1e-8 }
          : { ...shared, type: "sgd", momentum: 0.9, nesterov: true },
      reference: work.reference,
      seed: 1,
    },
  }),
});
const token = (row: number, index: number) => (row * 977 + index * 7919) % config.vocabularySize;
const row = (index: number, length: number) => Array.from({ length }, (_, at) => token(index, at));
let [sampleSeconds, stepSeconds] = [0, 0];
for (let round = 0; round < 2; round++) {
  const startedAt = performance.now();
  if (!work.learnsOnly)
    await Promise.all(
      Array.from({ length: work.sequences }, (_, index) =>
        engine.generate({
          promptIds: row(index, work.promptTokens),
          maxNewTokens: work.maxTokens,
          temperature: 1,
          topP: 1,
          topK: 0,
          seed: index,
          stopIds: [],
        }),
      ),
    );
  const sampledAt = performance.now();
  if (adapter !== undefined) {
    const length = work.promptTokens + work.maxTokens;
    const ids = Array.from({ length: work.sequences }, (_, index) => row(index, length));
    const reference = work.reference ? await engine.score(ids, "reference", 1) : undefined;
    const ones = Array.from({ length }, () => 1);
    const learnt = (_: number, at: number) =>
      at >= Math.max(1, work.learnsOnly ? 1 : work.promptTokens) ? 1 : 0;
    await engine.trainStep({
      sequences: ids.map((each, index) => ({
        ids: each,
        mask: ones.map(learnt),
        advantages: ones,
        ...(reference && { refLogprobs: reference[index] ?? [] }),
      })),
      loss: "sft",
      clipLow: 0.2,
      clipHigh: 0.2,
      klCoef: work.reference ? 0.1 : 0,
      temperature: 1,
      learningRate: 1e-5,
      microBatchSize: work.microBatchSize,
    });
  }
  sampleSeconds = (sampledAt - startedAt) / 1_000;
  stepSeconds = (performance.now() - sampledAt) / 1_000;
}
const peakMiB = process.resourceUsage().maxRSS / 1_024;
await engine.close();
process.stdout.write(`${JSON.stringify({ peakMiB, sampleSeconds, stepSeconds })}\n`);
