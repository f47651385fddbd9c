/**
 * What the embedded engine can be asked to do, independent of where it runs.
 *
 * ONNX Runtime blocks the thread that calls it, so the engine lives in a worker thread (`worker.ts`) and
 * everybody else holds an {@link EngineApi} whose calls are messages to that worker.
 *
 * @module
 */
import type { KlEstimator, ObjectiveShape } from "./models/objective.ts";
import type { Grammar } from "./sample/constraint/grammar.ts";

/** One prompt to continue. Token ids in, token ids out: text is the caller's business. */
export interface GenerateRequest {
  promptIds: number[];
  maxNewTokens: number;
  /** 0 means greedy. */
  temperature: number;
  /** Nucleus sampling; 1 keeps every token. */
  topP: number;
  /** Keep the k most likely tokens; 0 keeps every token. */
  topK: number;
  /** Same seed, same request, same weights: same tokens. */
  seed: number;
  /** Ids that end the generation; the ending id is included in `ids`. */
  stopIds: number[];
  /** How many alternatives to report at each position; 0 reports none. */
  topLogprobs?: number;
  /**
   * Report the model's own log-probabilities: at temperature 1, before bias and penalties. Default: those of
   * the distribution that is sampled from (before top-k, top-p and min-p).
   */
  modelLogprobs?: boolean;
  /** Report the prompt's log-probabilities as well, with this many alternatives (0: none). */
  promptLogprobs?: number;
  /** No stop token comes before this many tokens. Default: 0. */
  minNewTokens?: number;
  /** Drop tokens less likely than this share of the likeliest. Default: 0. */
  minP?: number;
  /** Added to the logits of these ids, before the temperature. */
  logitBias?: [id: number, bias: number][];
  /** Taken from the logits of tokens already in the answer. Default: 0. */
  presencePenalty?: number;
  /** Taken from the logits of tokens in the answer, once for each time they came. Default: 0. */
  frequencyPenalty?: number;
  /** Divides positive logits of tokens in prompt or answer, and multiplies negative ones. Default: 1. */
  repetitionPenalty?: number;
  /** What the text may be, up to a stop token; log-probabilities stay those of the model. Default: anything. */
  grammar?: Grammar;
}

export interface TokenAlternative {
  id: number;
  logprob: number;
}

/** What is known of a prompt once it is read. */
export interface PromptReport {
  /** Tokens whose keys and values came from an earlier or a concurrent request. */
  cachedTokens: number;
  /** One for each token of the prompt, the first 0; where `promptLogprobs` asked for them. */
  logprobs?: number[];
  /** The first is empty; where `promptLogprobs` is above 0. */
  topLogprobs?: TokenAlternative[][];
}

/** Tokens that became known together; `logprobs[i]` belongs to `ids[i]`. */
export interface TokenChunk {
  ids: number[];
  /**
   * Log-probability of each token at the request's temperature; at 1 when greedy, with a grammar or with
   * `modelLogprobs`.
   */
  logprobs: number[];
  topLogprobs?: TokenAlternative[][];
  /** In the first chunk of an answer, and in the whole. */
  prompt?: PromptReport;
}

export interface GenerateResult extends TokenChunk {
  finishReason: "stop" | "length";
}

/** One sequence to learn from. Arrays are as long as `ids`; `mask[i]` says whether token i is learnt. */
export interface TrainSequence {
  ids: number[];
  mask: number[];
  /** Per-token weight of the objective, before the normaliser; for SFT all ones. */
  advantages: number[];
  /** Log-probabilities that ratios are taken to, as a rule those sampled with; every loss but `sft` needs them. */
  oldLogprobs?: number[];
  /** Log-probabilities as the sampler computed them; required with `importanceCap`. */
  samplerLogprobs?: number[];
  /** Log-probabilities under the reference model; required when klCoef > 0. */
  refLogprobs?: number[];
  /** For a critic to learn: what came of each token, and what it had expected before it. */
  returns?: number[];
  values?: number[];
}

export interface TrainBatch {
  sequences: TrainSequence[];
  /**
   * `sft`: weighted negative log-likelihood. The others weigh each token by its ratio to `oldLogprobs`: `ppo`
   * clips the ratio (arXiv:1707.06347, eq. 7), `importance_sampling` does not; `dppo` (arXiv:2602.04879) and `ipo`
   * leave out tokens whose probability has moved too far. docs/algorithms.md has the formulas.
   */
  loss: "sft" | "ppo" | "importance_sampling" | "dppo" | "ipo";
  /** Of `ppo`: ratio bounds are [1 - clipLow, 1 + clipHigh]. */
  clipLow: number;
  clipHigh: number;
  /**
   * Of `dppo`: how far the probability of a token with a negative advantage may have fallen, and how far that of
   * another may have risen; `ipo` goes by `maskHigh` in both directions. Default: 0.2.
   */
  maskLow?: number;
  maskHigh?: number;
  /** Of `dppo` and `ipo`: weight of the squared log-ratio to `oldLogprobs` (arXiv:2602.02276). Default: 0. */
  driftCoef?: number;
  /** `sequence`: a token's ratio is its sequence's geometric mean (arXiv:2507.18071, eq. 7). Default: `token`. */
  ratio?: "token" | "sequence";
  /**
   * What the sum over tokens is divided by. `token`: learnt tokens of the batch. `sequence`: mean over sequences of
   * their means. A number: itself (arXiv:2503.20783). Default: `token`.
   */
  normalizer?: "token" | "sequence" | number;
  /** Weight of the KL estimate towards the reference; 0 is off. */
  klCoef: number;
  /** Default: `k3`. */
  klEstimator?: KlEstimator;
  /** Weight of the entropy of each learnt token's distribution, which is raised. Default: 0. */
  entropyCoef?: number;
  /**
   * Advantages are multiplied by exp(oldLogprobs - samplerLogprobs), at most this: what the sampler computed
   * otherwise than the trainer is made good for. Absent: they are not.
   */
  importanceCap?: number;
  /** Sampling temperature the rollouts were drawn at; logits are divided by it in the loss as well. */
  temperature: number;
  learningRate: number;
  /** Sequences per forward/backward pass; gradients accumulate over the passes of one step. */
  microBatchSize: number;
  /** Of `sft`: sequences share rows of up to so many tokens, blind to each other. Absent: a row each. */
  packTokens?: number;
}

export interface TrainStepResult {
  /** What was minimised, divided as `normalizer` says. */
  loss: number;
  gradNorm: number;
  /** Mean k3 estimate towards the reference, or towards the sampling policy without one. */
  kl: number;
  entropy: number;
  /** Share of tokens that were clipped or left out. */
  clipFraction: number;
  tokens: number;
  /** Of a critic: the loss before its updates. */
  valueLoss?: number;
  /** Learnt log-probabilities, one array per sequence, in the order of its mask's ones. */
  logprobs: number[][];
}

export interface LoraSetup {
  rank: number;
  alpha: number;
  /** Hugging Face module names, for example `q_proj`. */
  targets: string[];
}

/** How gradients change weights; see `train/optimizers`, a file each. */
export type OptimizerSetup = {
  weightDecay: number;
  /** Gradients are scaled down to this global L2 norm; 0 leaves them as they are. */
  maxGradNorm: number;
} & (
  | { type: "adamw"; beta1: number; beta2: number; epsilon: number }
  | { type: "sgd"; momentum: number; nesterov: boolean }
  | { type: "muon"; momentum: number; beta1: number; beta2: number; epsilon: number }
  | { type: "sign_sgd" }
);

/** How a critic learns; see `train/critic.ts`. */
export interface CriticSetup {
  learningRate: number;
  /** Of its head, a step. */
  updates: number;
  /** A value moves no further than this in a step. */
  clip: number;
}

export interface TrainerSetup {
  /** Absent: every parameter is trained. */
  lora?: LoraSetup;
  optimizer: OptimizerSetup;
  /** Keep a frozen copy of the starting weights to measure KL against. */
  reference: boolean;
  /** What batches will ask for, so that its graph is made beforehand; others are made when they come. */
  objective?: ObjectiveShape;
  /** Keep a critic, which learns from sequences that have `returns`. */
  critic?: CriticSetup;
  /** Seeds the adapter's initial weights. */
  seed: number;
}

export interface EngineSetup {
  /** Folder with config.json, model.safetensors and tokenizer.json. */
  modelDir: string;
  /** Folder of a PEFT adapter to apply (serving) or to train on from (training). */
  adapterDir?: string;
  threads: number;
  /** Most sequences decoded together. */
  slots: number;
  /**
   * Let idle threads spin for the next operation. A quarter faster for one sequence of a big model on an idle
   * machine; half as fast where others want the cores. Default: false.
   */
  spinning?: boolean;
  /** Longest sequence (prompt and completion) in tokens; default: what the model's config says. */
  maxPositions?: number;
  /**
   * Memory for keys and values of requests that have ended, for those that begin as they did. Default: 256;
   * an engine that trains keeps none, for its weights change.
   */
  prefixCacheMiB?: number;
  /** Present: the engine can also train. */
  trainer?: TrainerSetup;
}

export interface GenerateOptions {
  onTokens?: (chunk: TokenChunk) => void;
  signal?: AbortSignal;
}

/** Whose scores: those of a trainer's reference and critic need it to have one. */
export type Scored = "policy" | "reference" | "critic";

export interface EngineApi {
  /**
   * Continues a prompt. Aborting frees its slot before the next decode step and rejects with
   * `user_cancelled`; an engine that dies rejects everything with `engine_failed`. Weights may change between
   * two tokens when a training step is asked for meanwhile.
   */
  generate(request: GenerateRequest, options?: GenerateOptions): Promise<GenerateResult>;
  /**
   * Log-probability of each token of each sequence given those before it (index 0 is 0); of the critic, what it expects
   * before each token.
   */
  score(sequences: number[][], which: Scored, temperature: number): Promise<number[][]>;
  trainStep(batch: TrainBatch): Promise<TrainStepResult>;
  /** Writes a folder that can be served: full weights, or a PEFT adapter when training LoRA. */
  saveModel(dir: string): Promise<void>;
  /** Optimizer moments and step counter, so that a continued run goes on exactly. */
  saveTrainerState(dir: string): Promise<void>;
  loadTrainerState(dir: string): Promise<void>;
  close(): Promise<void>;
}
