/** The final answer of a solution in gsm8k's form, what stands behind `####` at its end; without one all of it. */
export function gsm8kAnswer(solution: string): string {
  return /####\s*([^\n]+)\n?$/.exec(solution)?.[1]?.trim() ?? solution;
}

/**
 * The final answer of a solution in LaTeX: what stands in its first `\boxed{…}`, with the braces inside of it; without
 * one all of it. Put between `$$`, as mathematics is compared, unless it is delimited already or a plain number.
 */
export function mathAnswer(solution: string): string {
  const answer = boxed(solution) ?? solution;
  const isDelimited = answer.startsWith("$") || answer.startsWith("\\(");
  return isDelimited || isPlainNumber(answer) ? answer : `$$${answer}$$`;
}

/** Digits, with points and signs between. */
function isPlainNumber(text: string): boolean {
  return /^\p{Nd}+$/u.test(text.replaceAll(/[.-]/g, ""));
}

const BOXED = "\\boxed{";

function boxed(text: string): string | undefined {
  for (let at = text.indexOf(BOXED); at >= 0; at = text.indexOf(BOXED, at + 1)) {
    const start = at + BOXED.length;
    const end = closingBrace(text, start);
    if (end !== undefined && end > start) return text.slice(start, end);
  }
  return undefined;
}

/** Where the brace that is open at `start` is closed; `\{` and `\}` are letters. */
function closingBrace(text: string, start: number): number | undefined {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === "\\") at++;
    else if (letter === "{") depth++;
    else if (letter === "}" && --depth === 0) return at;
  }
  return undefined;
}
