import { learntLength, type MaskedSequence, type MicroBatch } from "./micro-batches.ts";

/** What lies in a row of a packed batch: sequences by their place in the batch, one behind the other. */
type Row = readonly number[];

/**
 * Sequences put together to rows of at most `rowTokens`, the longest first and each into the first row with room. A
 * sequence that is longer than that has a row of its own. Equal lengths are packed equally.
 *
 * @example
 * packRows([3, 5, 2], 8); // [[1, 0], [2]]
 */
export function packRows(lengths: readonly number[], rowTokens: number): Row[] {
  const order = [...lengths.keys()]
    .filter((index) => (lengths[index] ?? 0) > 0)
    .sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0) || a - b);
  const rows: { members: number[]; room: number }[] = [];
  for (const index of order) {
    const length = lengths[index] ?? 0;
    const row = rows.find(({ room }) => room >= length);
    if (row === undefined) rows.push({ members: [index], room: rowTokens - length });
    else {
      row.members.push(index);
      row.room -= length;
    }
  }
  return rows.map(({ members }) => members);
}

/**
 * As `microBatches`, with several sequences to a row: positions begin anew with each, and none sees another.
 *
 * @param limits rows in a batch, with the padding at most `tokens`, and tokens in a row
 */
export function packedBatches(
  sequences: readonly MaskedSequence[],
  limits: { sequences: number; tokens: number; rowTokens: number },
): MicroBatch[] {
  const lengths = sequences.map(learntLength);
  const lengthOf = (row: Row): number => row.reduce((sum, index) => sum + (lengths[index] ?? 0), 0);
  const rows = packRows(lengths, limits.rowTokens).sort((a, b) => lengthOf(b) - lengthOf(a));
  const batches: MicroBatch[] = [];
  for (let start = 0; start < rows.length;) {
    const length = lengthOf(rows[start] ?? []);
    const count = Math.min(limits.sequences, Math.max(1, Math.floor(limits.tokens / length)));
    batches.push(assemble(sequences, lengths, rows.slice(start, start + count), length));
    start += count;
  }
  return batches;
}

function assemble(
  sequences: readonly MaskedSequence[],
  lengths: readonly number[],
  rows: readonly Row[],
  width: number,
): MicroBatch {
  const ids = new BigInt64Array(rows.length * width);
  const positions = new BigInt64Array(rows.length * width);
  // Padding is of no sequence, and sees itself alone.
  const segments = new Float32Array(rows.length * width).fill(-1);
  const batch: MicroBatch["places"] = [];
  const predicting: bigint[] = [];
  const targets: bigint[] = [];
  for (const [row, members] of rows.entries()) {
    let start = row * width;
    for (const [segment, sequence] of members.entries()) {
      const { ids: all = [], wanted = [] } = sequences[sequence] ?? {};
      const length = lengths[sequence] ?? 0;
      for (const [position, id] of all.slice(0, length + 1).entries()) {
        if (position < length) {
          ids[start + position] = BigInt(id);
          positions[start + position] = BigInt(position);
          segments[start + position] = segment;
        }
        if (position === 0 || wanted[position] !== true) continue;
        batch.push({ sequence, position });
        predicting.push(BigInt(start + position - 1));
        targets.push(BigInt(id));
      }
      start += length;
    }
  }
  return {
    places: batch,
    ids,
    size: rows.length,
    length: width,
    rows: BigInt64Array.from(predicting),
    targets: BigInt64Array.from(targets),
    packing: { positions, segments },
  };
}
