import { isEqual } from "./compare.ts";
import { candidatesIn } from "./extract-answer.ts";
import type { MathEqualOptions } from "./options.ts";
import { readValue } from "./read-value.ts";
import type { MathValue } from "./value.ts";

/** See {@link ../math-equal.ts}, which users import. */
export function mathEqual(
  expected: string | number,
  answer: string | number,
  options: MathEqualOptions = {},
): boolean {
  const { decimals = 6, tolerance = 0 } = options;
  const [gold, given] = [answerIn(String(expected)), answerIn(String(answer))];
  if (gold === undefined || given === undefined) return isSameText(String(expected), String(answer));
  return isEqual(gold, given, { decimals, tolerance });
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
