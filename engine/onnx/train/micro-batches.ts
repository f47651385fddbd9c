import { SpotterError } from "../../../sdk/schema/errors.ts";

/** A token of interest: `sequence` by its place in the batch, `position` of the token in its sequence. */
export interface TokenPlace {
  sequence: number;
  position: number;
}

/** Sequences that go through the graph together. */
export interface MicroBatch {
  places: TokenPlace[];
  /** int64 [size, length], row-major, padded with 0. */
  ids: BigInt64Array;
  size: number;
  length: number;
  /** int64 [M]: flattened positions that predict the tokens of interest. */
  rows: BigInt64Array;
  /** int64 [M]: the tokens of interest. */
  targets: BigInt64Array;
  /** Where a row holds several sequences: where in its own each token is, and which one that is; [size, length]. */
  packing?: { positions: BigInt64Array; segments: Float32Array };
}

/** A sequence and which of its tokens are of interest; token 0 never is, nothing predicts it. */
export interface MaskedSequence {
  ids: readonly number[];
  wanted: readonly boolean[];
}

/**
 * Groups sequences of like length, longest first, so that little is padded. Sequences without a token of
 * interest are left out, and what follows a sequence's last such token is cut off. The order depends on the
 * lengths alone, so equal batches are computed equally.
 *
 * @param limits at most `sequences` in a batch, and at most `tokens` with the padding where that is given
 */
export function microBatches(
  sequences: readonly MaskedSequence[],
  limits: { sequences: number; tokens?: number },
): MicroBatch[] {
  const lengths = sequences.map(learntLength);
  const order = lengths
    .map((length, sequence) => ({ length, sequence }))
    .filter(({ length }) => length > 0)
    .sort((a, b) => b.length - a.length || a.sequence - b.sequence);
  const batches: MicroBatch[] = [];
  let start = 0;
  while (start < order.length) {
    const length = order[start]?.length ?? 0;
    const byTokens = Math.max(1, Math.floor((limits.tokens ?? Infinity) / length));
    const members = order.slice(start, start + Math.min(limits.sequences, byTokens));
    batches.push(
      assemble(
        sequences,
        members.map(({ sequence }) => sequence),
        length,
      ),
    );
    start += members.length;
  }
  return batches;
}

/** Tokens that are read of a sequence: all before the last one of interest; 0 or less where there is none. */
export function learntLength({ wanted }: MaskedSequence): number {
  return wanted.lastIndexOf(true);
}

/** @throws SpotterError `invalid_input` for an id outside the vocabulary, `context_length_exceeded`. */
export function checkIds(
  ids: readonly number[],
  where: string,
  limits: { vocabularySize: number; maxPositions: number },
): void {
  const odd = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= limits.vocabularySize);
  if (odd !== undefined) {
    throw new SpotterError("invalid_input", `${where}: ${odd} is no token of this model.`, {
      where,
      hint: `Token ids go from 0 to ${limits.vocabularySize - 1}; use the tokenizer of the same model.`,
    });
  }
  if (ids.length <= limits.maxPositions) return;
  throw new SpotterError("context_length_exceeded", `${where} has ${ids.length} tokens.`, {
    where,
    hint: `This model takes sequences of at most ${limits.maxPositions} tokens.`,
  });
}

function assemble(
  sequences: readonly MaskedSequence[],
  members: readonly number[],
  length: number,
): MicroBatch {
  const ids = new BigInt64Array(members.length * length);
  const places: TokenPlace[] = [];
  const rows: bigint[] = [];
  const targets: bigint[] = [];
  for (const [row, sequence] of members.entries()) {
    const member = sequences[sequence];
    if (member === undefined) continue;
    for (const [position, id] of member.ids.slice(0, length + 1).entries()) {
      if (position < length) ids[row * length + position] = BigInt(id);
      if (position === 0 || member.wanted[position] !== true) continue;
      places.push({ sequence, position });
      rows.push(BigInt(row * length + position - 1));
      targets.push(BigInt(id));
    }
  }
  return {
    places,
    ids,
    size: members.length,
    length,
    rows: BigInt64Array.from(rows),
    targets: BigInt64Array.from(targets),
  };
}
