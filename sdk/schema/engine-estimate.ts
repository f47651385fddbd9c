/**
 * What the embedded engine needs, from the shape of a model and the settings of a run alone. test/long/estimate.test.ts
 * holds it to measured peaks; docs/cost.md says how well it does.
 *
 * @module
 */
import { adapterParametersOf, parametersOf, type ModelShape } from "./model-shape.ts";
import type { RunSpec } from "./run-spec.ts";
import { PASS_LOGITS } from "./trainer-spec.ts";

/** Memory of one container at its peak, in MiB, by what it is for. */
export interface MemoryParts {
  /** The program, its runtime and the tokenizer. */
  program: number;
  /** All copies of the weights. */
  weights: number;
  /** Gradients and what the optimizer remembers. */
  optimizer: number;
  /** Keys and values of the sequences that are being written. */
  cache: number;
  /** What a forward and backward pass keeps, or what answering does. */
  pass: number;
  /** A teacher that is served for the run in the same memory. */
  teacher?: number | undefined;
}

/** The settings that decide it. */
export type EstimatedSpec = Pick<
  RunSpec,
  "kind" | "adapter" | "algorithm" | "rollout" | "trainer" | "environments"
>;

const MIB = 2 ** 20;
const FLOAT = 4;
const PROGRAM_MIB = 150;
/** The graphs that learn, and what they keep between passes. */
const TRAINER_MIB = 120;
/** Sequences written side by side, as engine/training and engine/serve have it. */
const MAX_SLOTS = 32;
/** A cache that has grown, and what was there before. */
const GROWN = 1.5;
/** Copies that a pass holds of a layer's outputs at its peak, of its attention scores, and of the logits. */
const COPIES = { outputs: 1.3, attention: 2.5, logits: 2 };
/** What decoding holds of the logits of its sequences. */
const DECODE_LOGITS = 4;
/** Weights in the layout that decodes fastest take this much of what they take as they are. */
const PACKED = 1.2;

/** Bytes of a stored row for each token of it: its text, and the names of its fields. */
const BYTES_PER_TOKEN = 5;
/** Rows that are longer than most. */
const LONG_ROW = 1.5;
/** Of one thread, with products as large as a step's. */
const TRAIN_FLOP_PER_S = 120e9;
const DECODE_FLOP_PER_S = 45e9;
/** Few sequences side by side leave the processor waiting for the weights. */
const FEW_SEQUENCES = 8;
const FEW_SHARE = 0.4;

/** Longest sequence that a run learns from, in tokens. */
export function longestTokens(
  { kind, algorithm, rollout }: EstimatedSpec,
  shape: ModelShape,
  promptTokens: number,
): number {
  const window = Math.min(shape.maxPositions, rollout.contextTokens ?? Infinity);
  const written = kind === "sft" ? 0 : rollout.maxTokens * rollout.maxTurns;
  const context = algorithm.kind === "sft" ? (algorithm.contextTokens ?? Infinity) : Infinity;
  return Math.max(2, Math.ceil(Math.min(window, context, promptTokens + written)));
}

/** Sequences of one step. */
export function sequencesPerStep({ algorithm, rollout }: EstimatedSpec): number {
  if (algorithm.kind === "sft") return algorithm.batchSize;
  return rollout.promptsPerStep * rollout.samplesPerPrompt;
}

/**
 * Memory of a container that trains.
 *
 * @param promptTokens What a row brings along on average: its prompt, and its completion where that is learnt.
 */
export function trainingMemory(spec: EstimatedSpec, shape: ModelShape, promptTokens: number): MemoryParts {
  const { adapter, trainer } = spec;
  const parameters = parametersOf(shape);
  const isFull = adapter.kind === "full";
  const trained = isFull ? parameters : adapterParametersOf(shape, adapter.rank, adapter.targets);
  const sequences = sequencesPerStep(spec);
  const tokens = longestTokens(spec, shape, promptTokens * LONG_ROW);
  const micro = Math.min(trainer.microBatchSize, sequences, sequencesPerPass(shape, tokens));
  const learnt =
    spec.kind === "sft" ? tokens : Math.min(tokens, spec.rollout.maxTokens * spec.rollout.maxTurns);
  const slots = Math.min(MAX_SLOTS, sequences);
  const samples = spec.kind !== "sft";
  const copies = 1 + (isFull ? 0 : PACKED) + (isFull && hasReference(spec) ? 1 : 0);
  // A second set is there where gradients of several passes are added up.
  const gradients = sequences > micro ? 2 : 1;
  return {
    program: PROGRAM_MIB + TRAINER_MIB,
    weights: mib(parameters * copies),
    optimizer: mib(trained * (gradients + momentsOf(trainer))),
    cache: samples ? mib(cacheFloats(shape, slots, tokens)) : 0,
    pass: mib(passFloats(shape, { micro, tokens, learnt: micro * learnt })),
  };
}

/** Memory of a replica that answers several conversations side by side. */
export function servingMemory(shape: ModelShape, { conversations = 8, tokens = 1_024 } = {}): MemoryParts {
  return {
    program: PROGRAM_MIB,
    weights: mib(parametersOf(shape) * (1 + PACKED)),
    optimizer: 0,
    cache: mib(cacheFloats(shape, conversations, Math.min(tokens, shape.maxPositions))),
    pass: mib(conversations * shape.vocabularySize * DECODE_LOGITS),
  };
}

/** What one step takes, if every answer is as long as it may be. */
export function secondsPerStep(
  spec: EstimatedSpec,
  shape: ModelShape,
  promptTokens: number,
  threads: number,
): number {
  const parameters = parametersOf(shape);
  const sequences = sequencesPerStep(spec);
  const learnt = sequences * longestTokens(spec, shape, promptTokens);
  // A product forward, one towards the input, and one towards the weights where they are trained.
  const passes = (spec.adapter.kind === "full" ? 3 : 2) + (hasReference(spec) ? 1 : 0);
  const learning = (2 * passes * parameters * learnt) / (threads * TRAIN_FLOP_PER_S);
  if (spec.kind === "sft") return learning;
  const written = sequences * Math.min(shape.maxPositions, spec.rollout.maxTokens * spec.rollout.maxTurns);
  const rate = DECODE_FLOP_PER_S * (sequences < FEW_SEQUENCES ? FEW_SHARE : 1);
  return learning + (2 * parameters * written) / (threads * rate);
}

/** The engine cuts a pass that would have too many logits. */
function sequencesPerPass({ vocabularySize }: ModelShape, tokens: number): number {
  return Math.max(1, Math.floor(PASS_LOGITS / vocabularySize / tokens));
}

function hasReference({ algorithm }: EstimatedSpec): boolean {
  return algorithm.kind === "grpo" && algorithm.klCoef > 0;
}

/** Tokens of a stored row on average. */
export function rowTokens({ rows, bytes }: { rows: number; bytes: number }): number {
  return bytes / rows / BYTES_PER_TOKEN;
}

export function totalMiB({ program, weights, optimizer, cache, pass, teacher = 0 }: MemoryParts): number {
  return Math.ceil(program + weights + optimizer + cache + pass + teacher);
}

function momentsOf({ optimizer, momentum }: RunSpec["trainer"]): number {
  switch (optimizer) {
    case "adamw":
      return 2;
    case "muon":
      return 1;
    case "sgd":
      return momentum === 0 ? 0 : 1;
    case "sign_sgd":
      return 0;
  }
}

function cacheFloats({ layers, keyValueHeads, headSize }: ModelShape, slots: number, tokens: number): number {
  return GROWN * slots * tokens * layers * 2 * keyValueHeads * headSize;
}

function passFloats(
  shape: ModelShape,
  { micro, tokens, learnt }: { micro: number; tokens: number; learnt: number },
): number {
  const { hiddenSize, layers, heads, keyValueHeads, headSize, feedForwardSize, vocabularySize } = shape;
  const outputs = 2 * hiddenSize + (2 * heads + 2 * keyValueHeads) * headSize + 3 * feedForwardSize;
  const perToken = layers * (COPIES.outputs * outputs + COPIES.attention * heads * tokens);
  return micro * tokens * perToken + COPIES.logits * learnt * vocabularySize;
}

function mib(floats: number): number {
  return (floats * FLOAT) / MIB;
}
