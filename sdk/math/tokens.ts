import { isUnit } from "./units.ts";

export type Token =
  | { type: "number"; text: string }
  /** A name of one or more letters: a variable, a function or a constant. */
  | { type: "name"; text: string }
  | { type: "words"; text: string }
  /** `\frac`, `\{`, `+`, `(`. */
  | { type: "sign"; text: string };

const FUNCTIONS = [
  "arcsin", "arccos", "arctan", "arccot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sin", "cos", "tan",
  "cot", "sec", "csc", "sqrt", "cbrt", "log", "exp", "abs", "floor", "ceil", "gcd", "lcm", "max", "min", "ln", "lg",
]; // prettier-ignore

/** Names that keyboards write and LaTeX writes with a backslash. */
export const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...FUNCTIONS,
  "pi",
  "theta",
  "alpha",
  "beta",
  "infty",
]);

const TOKEN =
  /\\text\s*\{([^{}]*)\}|\\begin\s*\{[a-zA-Z]*matrix\*?\}|\\end\s*\{[a-zA-Z]*matrix\*?\}|\\[a-zA-Z]+|\\.|(\d+(?:\.\d+)?|\.\d+)|([a-zA-Z]+)|\s+|./gsu;
/** `1 234 567`: thousands with spaces. */
const SPACED = /(?<![\d.,] ?)\d{1,3}(?: \d{3})+(?![ ,]?\d)/g;
/** `1,234,567.8`, where no bracket says that a comma parts a list. */
const GROUPED = /(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])/g;

export interface TokensParams {
  /** Words of three letters and more are words, not products of variables. */
  isProse: boolean;
}

/** Splits what {@link cleanLatex} left. Undefined where it is prose. */
export function tokensOf(text: string, { isProse }: TokensParams): Token[] | undefined {
  const tokens: Token[] = [];
  if (
    isProse &&
    /(?<![a-zA-Z\\])[a-zA-Z]{2,} +[a-zA-Z]{2,}(?![a-zA-Z])/.test(text.replace(/\\text\s*\{[^{}]*\}/g, ""))
  )
    return undefined;
  for (const [all, words, number, letters] of ungrouped(text).matchAll(TOKEN)) {
    if (words !== undefined) tokens.push({ type: "words", text: words.trim() });
    else if (number !== undefined)
      tokens.push({ type: "number", text: number.startsWith(".") ? `0${number}` : number });
    else if (letters !== undefined) {
      const names = namesOf(letters);
      if (isProse && names.length === letters.length && letters.length > 2 && !isUnit(letters))
        return undefined;
      tokens.push(...names.map((name) => ({ type: "name" as const, text: name })));
    } else if (/^\\[a-zA-Z]/.test(all) && KNOWN_NAMES.has(all.slice(1)))
      tokens.push({ type: "name", text: all.slice(1) });
    else if (all.trim() !== "") tokens.push({ type: "sign", text: all.replace(/\s/g, "") });
  }
  return tokens;
}

/** Commas between thousands go, outside of brackets: `(1,234)` has two numbers. */
function ungrouped(given: string): string {
  const text = given.replace(SPACED, (all) => all.replaceAll(" ", ""));
  let depth = 0;
  const depths = Array.from(text, (letter) => {
    if ("([{".includes(letter)) depth++;
    if (")]}".includes(letter)) depth--;
    return depth;
  });
  return text.length !== depths.length
    ? text
    : text.replace(GROUPED, (all, at: number) => (depths[at] === 0 ? all.replaceAll(",", "") : all));
}

/** `xy` is x times y, `cosx` the cosine of x, `sqrt` the root. */
function namesOf(letters: string): string[] {
  if (KNOWN_NAMES.has(letters)) return [letters];
  const first = FUNCTIONS.find((name) => name.length > 2 && letters.startsWith(name));
  if (first !== undefined) return [first, ...namesOf(letters.slice(first.length))];
  return [...letters];
}
