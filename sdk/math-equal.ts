import { createRequire } from "node:module";
import { extname } from "node:path";
import type { MathEqualOptions } from "./math/options.ts";

export type { MathEqualOptions } from "./math/options.ts";

type MathModule = { mathEqual: typeof mathEqual };

let loaded: MathModule | undefined;

/**
 * Whether an answer is mathematically what was expected: `\frac{1}{2}`, `0.5` and `1/2` are, and so are
 * `(x+1)^2` and `x^2+2x+1`, `{1, 2}` and `{2, 1}`, `x > 3` and `(3, \infty)`.
 *
 * Both may be whole texts: what is in the last `\boxed{...}` counts, else what follows "the answer is", else the last
 * mathematics between `$...$`, `\(...\)` or `\[...\]`, else the text itself, else its last number. Units, currencies
 * and degrees are left out, `50%` is 50 as well as 0.5, and a number that is written as a decimal is compared to six
 * places. Words are compared without regard to case. It never throws: what cannot be read is compared as text.
 *
 * The arguments are not interchangeable: where `5` is expected `x = 5` is right and the other way round too, but an
 * inequality is answered with its interval, not an interval with an inequality.
 *
 * @example
 * import { mathEqual, reward } from "spotter";
 *
 * export const accuracy = reward(({ response, metadata }) =>
 *   mathEqual(String(metadata.expected_answer), response.content) ? 1 : 0,
 * );
 */
export function mathEqual(
  expected: string | number,
  answer: string | number,
  options: MathEqualOptions = {},
): boolean {
  // Half a megabyte of algebra, for those who ask for it. In an isolate it is part of the bundle instead.
  loaded ??= createRequire(import.meta.url)(`./math/index${extname(import.meta.url)}`) as MathModule;
  return loaded.mathEqual(expected, answer, options);
}
