import type { Precision } from "./compare-expressions.ts";
import { isEqual } from "./compare.ts";
import { candidatesIn } from "./extract-answer.ts";
import type { MathEqualOptions } from "./options.ts";
import { readValue } from "./read-value.ts";
import type { MathValue } from "./value.ts";

/** Places to which a number written as a decimal is compared. */
const DECIMALS = 6;
const MAX_DECIMALS = 20;

/** See {@link ../math-equal.ts}, which users import. */
export function mathEqual(
  expected: string | number,
  answer: string | number,
  options: MathEqualOptions = {},
): boolean {
  try {
    const texts = [String(expected), String(answer)] as const;
    const [gold, given] = texts.map(answerIn);
    if (gold === undefined || given === undefined) return isSameText(...texts);
    return isEqual(gold, given, precisionOf(options));
  } catch {
    // What cannot be read, an object without a text or brackets that fill the stack, is no right answer.
    return false;
  }
}

/** Rewards are plain JavaScript at the end: anything may come. */
function precisionOf(options: unknown): Precision {
  const { decimals, tolerance } = (options ?? {}) as Partial<Record<keyof Precision, unknown>>;
  return {
    decimals: Math.min(MAX_DECIMALS, Math.max(0, Math.trunc(finite(decimals) ?? DECIMALS))),
    tolerance: Math.max(0, finite(tolerance) ?? 0),
  };
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** What a text answers: the first place that can be read. */
function answerIn(text: string): MathValue | undefined {
  for (const { text: candidate, isProse } of candidatesIn(text)) {
    const value = readValue(candidate, { isProse });
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Words without mathematics: "Yes" is "yes". */
function isSameText(expected: string, answer: string): boolean {
  const [one, other] = [expected, answer].map((text) =>
    text
      .trim()
      .toLowerCase()
      .replace(/[.\s]+$/, ""),
  );
  return one === other && one !== "";
}
