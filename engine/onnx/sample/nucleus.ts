/** What top-p keeps: everything above `value`, and of what equals it the ids up to `lastId`. */
export interface NucleusCut {
  value: number;
  lastId: number;
  /** Sum of what is kept. */
  mass: number;
}

/** Sign, exponent and four bits of the mantissa; the sign of a probability is 0. */
const BUCKET_SHIFT = 19;
const masses = new Float64Array(2 ** (31 - BUCKET_SHIFT));

/**
 * Finds the smallest set of the likeliest values that reaches `mass`, equal ones by index. The bits of positive
 * floats order as the floats do, so a histogram of their leading bits finds the bucket in which the set ends,
 * and only that one is sorted.
 *
 * @returns undefined where all values together do not reach it
 */
export function nucleusCut(row: Float32Array, mass: number): NucleusCut | undefined {
  const bits = new Uint32Array(row.buffer, row.byteOffset, row.length);
  masses.fill(0);
  for (let id = 0; id < row.length; id++) {
    const bucket = (bits[id] as number) >>> BUCKET_SHIFT;
    masses[bucket] = (masses[bucket] as number) + (row[id] as number);
  }
  let reached = 0;
  let last = masses.length - 1;
  while (last >= 0 && reached + (masses[last] as number) < mass) reached += masses[last--] as number;
  if (last < 0) return undefined;
  const ids: number[] = [];
  for (let id = 0; id < row.length; id++) if ((bits[id] as number) >>> BUCKET_SHIFT === last) ids.push(id);
  ids.sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0) || a - b);
  let lastId = ids.at(-1) ?? 0;
  for (const id of ids) {
    reached += row[id] ?? 0;
    if (reached < mass) continue;
    lastId = id;
    break;
  }
  return { value: row[lastId] ?? 0, lastId, mass: reached };
}

/** The index within the nucleus at which the running sum first exceeds `target`. */
export function walkNucleus(row: Float32Array, { value: cut, lastId }: NucleusCut, target: number): number {
  let rest = target;
  for (let id = 0; id < row.length; id++) {
    const value = row[id] as number;
    if (value < cut || (value === cut && id > lastId)) continue;
    rest -= value;
    if (rest < 0) return id;
  }
  return lastId;
}
