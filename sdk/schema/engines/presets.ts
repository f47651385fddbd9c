import type { GpuClass } from "../hardware.ts";
import type { SlimeSettings } from "./slime-settings.ts";

/** What is known of a model that GPU engines train and serve. */
export interface ModelPreset {
  names: readonly string[];
  /** Parameters in billions: all, and those of one token where it is a mixture of experts. */
  billions: number;
  activeBillions?: number;
  /** Its longest context in tokens, as served by default. */
  contextTokens: number;
  train: { gpu: GpuClass; count: number; settings: SlimeSettings };
  serve: { gpu: GpuClass; count: number; memoryShare: number; maxRunningRequests: number };
}

const H100: GpuClass = "H100";

/** Parallelism of a training on one instance of eight H100, after the settings that slime and its users publish. */
const train = (
  tp: number,
  maxTokensPerGpu: number,
  sglangMemFractionStatic: number,
): ModelPreset["train"] => ({
  gpu: H100,
  count: 8,
  settings: {
    tensorModelParallelSize: tp,
    sequenceParallel: tp > 1,
    rolloutNumGpusPerEngine: tp,
    maxTokensPerGpu,
    sglangMemFractionStatic,
  },
});
const serve = (count: number, memoryShare: number, maxRunningRequests: number): ModelPreset["serve"] => ({
  gpu: H100,
  count,
  memoryShare,
  maxRunningRequests,
});
const qwen3 = (size: string): string[] => [`Qwen/Qwen3-${size}`, `Qwen/Qwen3-${size}-Base`];

export const MODEL_PRESETS: readonly ModelPreset[] = [
  {
    names: qwen3("0.6B"),
    billions: 0.6,
    contextTokens: 32_768,
    train: train(1, 12_288, 0.8),
    serve: serve(1, 0.88, 64),
  },
  {
    names: qwen3("1.7B"),
    billions: 1.7,
    contextTokens: 32_768,
    train: train(1, 12_288, 0.78),
    serve: serve(1, 0.87, 32),
  },
  {
    names: [...qwen3("4B"), "Qwen/Qwen3-4B-Instruct-2507", "Qwen/Qwen3-4B-Thinking-2507"],
    billions: 4,
    contextTokens: 32_768,
    train: train(1, 8_192, 0.75),
    serve: serve(1, 0.85, 16),
  },
  {
    names: qwen3("8B"),
    billions: 8.2,
    contextTokens: 32_768,
    train: train(2, 6_144, 0.7),
    serve: serve(1, 0.82, 16),
  },
  {
    names: qwen3("14B"),
    billions: 14.8,
    contextTokens: 32_768,
    train: train(4, 4_608, 0.65),
    serve: serve(2, 0.8, 16),
  },
  {
    names: ["Qwen/Qwen3-32B"],
    billions: 32.8,
    contextTokens: 32_768,
    train: train(8, 4_096, 0.6),
    serve: serve(4, 0.75, 16),
  },
  {
    names: ["Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-30B-A3B-Instruct-2507"],
    billions: 30.5,
    activeBillions: 3.3,
    contextTokens: 32_768,
    train: {
      ...train(4, 8_192, 0.6),
      settings: { ...train(4, 8_192, 0.6).settings, expertModelParallelSize: 8, expertTensorParallelSize: 1 },
    },
    serve: serve(4, 0.8, 16),
  },
  {
    names: ["Qwen/Qwen3.5-4B"],
    billions: 4.5,
    contextTokens: 32_768,
    train: train(1, 8_192, 0.7),
    serve: serve(1, 0.85, 32),
  },
];

export function presetOf(model: string): ModelPreset | undefined {
  return MODEL_PRESETS.find(({ names }) => names.some((name) => name.toLowerCase() === model.toLowerCase()));
}

const GIB_OF_GPU: Record<GpuClass, number> = {
  T4: 15,
  A10G: 22.5,
  L4: 22.5,
  L40S: 44.5,
  "A100-40GB": 39.5,
  "A100-80GB": 79.5,
  H100: 79.5,
  H200: 140,
  B200: 178,
};

export function gpuMemoryGiB(gpu: GpuClass): number {
  return GIB_OF_GPU[gpu];
}

export interface TrainShape {
  billions: number;
  gpu: GpuClass;
  gpus: number;
  /** Tensor times pipeline: over how many GPUs the weights are cut. */
  modelParallel: number;
  optimizerOnCpu: boolean;
}

/**
 * GiB that weights, gradients and the optimizer take on each GPU while Megatron trains in bfloat16 with Adam: 2 bytes
 * a parameter for the weights and 4 for their gradients, cut by tensor and pipeline parallelism, and 12 for the float32
 * copy and the two moments, cut over all GPUs by its distributed optimizer
 * (https://docs.nvidia.com/megatron-core/developer-guide/latest/api-guide/dist_optimizer.html).
 */
export function trainingGiB({ billions, gpus, modelParallel, optimizerOnCpu }: TrainShape): number {
  const gib = (billions * 1e9) / 2 ** 30;
  const optimizer = optimizerOnCpu ? 0 : (12 * gib) / Math.max(gpus, 1);
  return (6 * gib) / Math.max(modelParallel, 1) + optimizer;
}

/** What activations, buffers and CUDA itself need beside it. */
const REST_GIB = 10;

/** Why a model does not fit to be trained so, with a shape that does; undefined where it fits. */
export function trainingFault(shape: TrainShape): { message: string; hint: string } | undefined {
  const needed = trainingGiB(shape) + REST_GIB;
  const has = gpuMemoryGiB(shape.gpu);
  if (needed <= has) return undefined;
  const fits = [1, 2, 4, 8]
    .filter((parallel) => parallel <= shape.gpus)
    .find((parallel) => trainingGiB({ ...shape, modelParallel: parallel }) + REST_GIB <= has);
  const message =
    `needs about ${Math.ceil(needed)} GiB on each ${shape.gpu}, which has ${Math.floor(has)}: ` +
    `${shape.billions}B parameters over ${shape.gpus} GPUs, cut in ${shape.modelParallel}`;
  if (fits !== undefined) return { message, hint: `tensorModelParallelSize: ${fits} fits.` };
  const gpus = [16, 32, 64, 128].find(
    (count) => trainingGiB({ ...shape, gpus: count, modelParallel: 8 }) + REST_GIB <= has,
  );
  return {
    message,
    hint:
      gpus === undefined
        ? "Take a smaller model, or optimizerCpuOffload."
        : `${gpus} GPUs with tensorModelParallelSize: 8 fit, or optimizerCpuOffload: true.`,
  };
}
