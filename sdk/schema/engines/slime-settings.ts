import * as z from "zod/mini";
import { countUpTo, nonNegativeInt, positiveInt } from "../common.ts";
import { plainRecord } from "./plain-record.ts";

const number = z.optional(z.number());
const nonNegative = z.optional(z.number().check(z.gte(0)));
const share = z.optional(z.number().check(z.gt(0), z.lte(1)));
// Far above what there is, and products of two are numbers that a command line can hold.
const count = z.optional(countUpTo(10_000_000));
const whole = z.optional(nonNegativeInt);
const flag = z.optional(z.boolean());
const text = z.optional(z.string());
const document = z.optional(plainRecord(z.unknown()));

const optionValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([z.string(), z.number()])),
]);

/**
 * Settings of slime by its own names, in camelCase: `rolloutNumGpus` is `--rollout-num-gpus`. What is given here wins
 * over presets, and over what the run says in its engine-neutral words. `flags` takes every other option of slime,
 * Megatron and SGLang by its name.
 */
export const slimeSettings = z.strictObject({
  // Where it runs
  colocate: flag,
  actorNumNodes: count,
  actorNumGpusPerNode: count,
  numGpusPerNode: count,
  rolloutNumGpus: whole,
  rolloutNumGpusPerEngine: count,
  tensorModelParallelSize: count,
  pipelineModelParallelSize: count,
  contextParallelSize: count,
  expertModelParallelSize: count,
  expertTensorParallelSize: count,
  sequenceParallel: flag,
  offloadTrain: flag,
  offloadRollout: flag,
  optimizerCpuOffload: flag,
  usePrecisionAwareOptimizer: flag,
  /** `train_async.py`: answers are sampled while the step before is learnt, one step off the policy. */
  asyncMode: flag,
  // Rollouts
  numRollout: count,
  rolloutBatchSize: count,
  nSamplesPerPrompt: count,
  overSamplingBatchSize: count,
  dynamicSamplingFilterPath: text,
  rolloutMaxResponseLen: count,
  rolloutMaxPromptLen: count,
  rolloutMaxContextLen: count,
  rolloutTemperature: z.optional(z.number().check(z.gt(0))),
  rolloutTopP: share,
  rolloutTopK: z.optional(z.int()),
  rolloutStop: z.optional(z.array(z.string())),
  rolloutShuffle: flag,
  rolloutSeed: whole,
  balanceData: flag,
  partialRollout: flag,
  applyChatTemplate: flag,
  /** An object, or its JSON as slime's command line has it. */
  applyChatTemplateKwargs: z.optional(z.union([z.string(), z.record(z.string(), z.unknown())])),
  useFaultTolerance: flag,
  rolloutHealthCheckInterval: nonNegative,
  rolloutHealthCheckTimeout: nonNegative,
  rolloutHealthCheckFirstWait: nonNegative,
  updateWeightMode: text,
  updateWeightTransport: text,
  rmType: text,
  // Learning
  globalBatchSize: count,
  microBatchSize: count,
  useDynamicBatchSize: flag,
  maxTokensPerGpu: count,
  advantageEstimator: text,
  epsClip: nonNegative,
  epsClipHigh: nonNegative,
  epsClipC: nonNegative,
  valueClip: nonNegative,
  useKlLoss: flag,
  klLossType: text,
  klLossCoef: nonNegative,
  klCoef: nonNegative,
  entropyCoef: nonNegative,
  gamma: number,
  lambd: number,
  normalizeAdvantages: flag,
  calculatePerTokenLoss: flag,
  disableGrpoStdNormalization: flag,
  useTis: flag,
  tisClip: nonNegative,
  tisClipLow: nonNegative,
  useRolloutRoutingReplay: flag,
  numCriticOnlySteps: whole,
  optimizer: text,
  lr: z.optional(z.number().check(z.gt(0))),
  minLr: nonNegative,
  lrDecayStyle: text,
  lrWarmupIters: whole,
  weightDecay: nonNegative,
  adamBeta1: share,
  adamBeta2: share,
  clipGrad: nonNegative,
  recomputeGranularity: text,
  recomputeMethod: text,
  recomputeNumLayers: count,
  freezeParamsNameList: z.optional(z.array(z.string())),
  // Evaluation
  evalInterval: z.optional(z.nullable(positiveInt)),
  nSamplesPerEvalPrompt: count,
  evalMaxResponseLen: count,
  evalTopP: share,
  evalTemperature: nonNegative,
  skipEvalBeforeTrain: flag,
  // Checkpoints
  saveInterval: count,
  noSaveOptim: flag,
  noLoadOptim: flag,
  /**
   * Convert the weights to Megatron's format before the training, once for each model and shape, and keep them for
   * later runs. Default false: slime converts Hugging Face weights each time it loads them.
   */
  convertToMegatron: flag,
  /**
   * Save in Megatron's format alone, and convert each checkpoint beside the training, which goes on meanwhile.
   * Default false: the training waits while it writes both.
   */
  convertToHf: flag,
  /** Write TensorBoard's event files too: what slime tells only there is then among the run's metrics. */
  useTensorboard: flag,
  // SGLang
  sglangMemFractionStatic: share,
  sglangContextLength: count,
  /** Hooks as `module.function`, for what the image brings along. */
  customGenerateFunctionPath: text,
  customRewardPostProcessPath: text,
  rolloutFunctionPath: text,
  customRolloutLogFunctionPath: text,
  customEvalRolloutLogFunctionPath: text,
  customMegatronBeforeLogProbHookPath: text,
  customMegatronBeforeTrainStepHookPath: text,
  // Documents, written to files beside the run
  customConfig: document,
  evalConfig: document,
  sglangConfig: document,
  /** Any other option by its name, with or without dashes. */
  flags: z.optional(plainRecord(optionValue)),
});
export type SlimeSettings = z.infer<typeof slimeSettings>;
