import type { SftAlgorithm } from "../../sdk/schema/sft-algorithm.ts";
import type { TrainSequence } from "../onnx/engine-api.ts";
import type { PromptCodec } from "./text.ts";

/** Attention costs memory by the square of it: what a laptop can bear with a real model. */
const CONTEXT_TOKENS = 1024;

/** The longest sequence that texts are cut to. */
export function documentTokens(
  { contextTokens = CONTEXT_TOKENS }: Pick<SftAlgorithm, "contextTokens">,
  { contextLength }: Pick<PromptCodec, "contextLength">,
): number {
  return Math.max(2, Math.min(contextTokens, contextLength));
}

/**
 * Texts put end to end, each ended by `end`, and cut to sequences of at most `length` tokens: every token of them is
 * learnt exactly once. A sequence begins with the last token of the one before, which predicts its first; the very
 * first begins with `end`.
 *
 * @example
 * documentSequences([[5, 6], [7]], { end: 0, length: 3 }); // ids [0, 5, 6], [6, 0, 7], [7, 0]
 */
export function documentSequences(
  documents: readonly (readonly number[])[],
  { end, length }: { end: number; length: number },
): TrainSequence[] {
  const stream = [end, ...documents.flatMap((ids) => [...ids, end])];
  const sequences: TrainSequence[] = [];
  for (let start = 0; start + 1 < stream.length; start += length - 1) {
    const ids = stream.slice(start, start + length);
    const mask = ids.map((_, position) => (position === 0 ? 0 : 1));
    sequences.push({ ids, mask, advantages: mask });
  }
  return sequences;
}
