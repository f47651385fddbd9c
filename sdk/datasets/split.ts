import { SpotterError } from "../schema/errors.ts";

interface Boundary {
  value: number;
  isPercent: boolean;
}

/** One part of a split expression: `train[10%:20%]`. */
export interface SplitPart {
  split: string;
  from: Boundary | undefined;
  to: Boundary | undefined;
}

const PART = /^([\w.-]+)(?:\[\s*(-?\d+%?)?\s*:\s*(-?\d+%?)?\s*\])?$/;

/**
 * Takes apart what names rows of a dataset: `train`, `train[:10]`, `train[-5:]`, `train[10%:20%]`, and sums
 * of them such as `train[10:15]+test`.
 *
 * @throws SpotterError `invalid_input`
 */
export function parseSplit(text: string): SplitPart[] {
  return text.split("+").map((part) => {
    const match = PART.exec(part.trim());
    if (!match) throw invalid(text, `"${part.trim()}" is no split`);
    const [, split = "", fromText, toText] = match;
    const from = boundaryOf(fromText);
    const to = boundaryOf(toText);
    if (from && to && from.isPercent !== to.isPercent)
      throw invalid(text, `"${part.trim()}" mixes rows and percent`);
    for (const boundary of [from, to]) {
      if (boundary?.isPercent === true && Math.abs(boundary.value) > 100)
        throw invalid(text, `${boundary.value}% is beyond 100%`);
    }
    return { split, from, to };
  });
}

/** Whether a part can be cut out only by someone who knows how many rows there are. */
export function needsCount({ from, to }: SplitPart): boolean {
  return [from, to].some((boundary) => boundary !== undefined && (boundary.isPercent || boundary.value < 0));
}

/**
 * The rows of a part, [from, to), of `count` in all. Percents are rounded to the nearest row, halves to the
 * even one, negative bounds count from the end, and what lies beyond is cut off: the rule of
 * `_rel_to_abs_instr` in Hugging Face datasets (src/datasets/arrow_reader.py, rounding "closest").
 */
export function rangeOf(part: SplitPart, count: number): [from: number, to: number] {
  const at = (boundary: Boundary | undefined, otherwise: number): number => {
    if (boundary === undefined) return otherwise;
    const row = boundary.isPercent ? roundHalfEven((boundary.value * count) / 100) : boundary.value;
    return Math.min(row < 0 ? Math.max(count + row, 0) : row, count);
  };
  const from = at(part.from, 0);
  return [from, Math.max(from, at(part.to, count))];
}

/** As Python's `round` does. */
function roundHalfEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  if (rest !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

function boundaryOf(text: string | undefined): Boundary | undefined {
  return text === undefined ? undefined : { value: parseInt(text, 10), isPercent: text.endsWith("%") };
}

function invalid(text: string, what: string): SpotterError {
  return new SpotterError("invalid_input", `The split ${JSON.stringify(text)} is not valid: ${what}.`, {
    where: "split",
    hint: 'Write "train", "train[:10]", "train[10%:20%]" or "train[10:15]+test".',
  });
}
