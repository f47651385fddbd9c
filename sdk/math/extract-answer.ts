import { boxedIn } from "./boxed.ts";

/** Where in a text an answer may be. */
export interface Candidate {
  text: string;
  /** It may be words as well, not an answer at all. */
  isProse: boolean;
}

/** Answers stand at the end; what a model thought before is not read. */
const MAX_CHARACTERS = 10_000;

const MATH =
  /(?<!\\)\$\$([^$]+)\$\$|\\\[([\s\S]+?)\\\]|\\\(([\s\S]+?)\\\)|(?<![\\\d])\$((?:\\\$|[^$\n])+?)(?<!\\)\$/g;
const PERCENT = /^\s*(?:\\?%|percent(?:age)?\b|pct\b)/i;
const BETWEEN = /^\s*(?:,?\s*and|,?\s*or|,)\s*$/;
const CUE = /(?:answer|result)\b[^\n$\\]{0,60}?(?:\bis\b|:|=)[\s:*]*/gi;
const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+`;
/** A number, or sums and quotients of numbers; not the end of a name such as `x2`, nor what a function is of. */
const NUMBERS = new RegExp(
  String.raw`(?<![\w.,]|[A-Za-z][([]+)-?\(?(?:${NUMBER})(?:\s*[-+*/^×÷]\s*\(?-?(?:${NUMBER})\)?)*(?:\s*(?:\\?%|percent(?:age)?\b|pct\b))?`,
  "gi",
);

/** What stands before something that is reckoned with as a whole. */
const OPERATOR = /\\(?:i{1,4}nt|oint|sum|prod|lim(?:sup|inf)?)(?![a-zA-Z])|[∫∬∮∑∏]/g;
/** What ends that, outside of braces: a sign of relation, a word, or a line. */
const SAID = /[=≈]|\\(?:approx|equiv|Rightarrow|implies)|(?<![\\a-zA-Z])[a-zA-Z]{3,}|\n/;
const BRACES = /\{[^{}]*(?:\}|$)/g;

/**
 * Where the answer of a text may be, the likeliest first: what is boxed, what follows "the answer is", the last
 * mathematics, the text itself, the last number.
 */
export function candidatesIn(given: string): Candidate[] {
  const text = given.slice(-MAX_CHARACTERS);
  const boxed = boxedIn(text);
  if (boxed !== undefined) return [{ text: boxed, isProse: false }];
  const rest = afterCue(text);
  const found = [...(rest === undefined ? [] : [firstMath(rest), lastNumber(rest, "first")]), lastMath(text)];
  return [
    ...found.filter((each) => each !== undefined).map((each) => ({ text: each, isProse: false })),
    { text, isProse: true },
    ...[lastNumber(text, "last")]
      .filter((each) => each !== undefined)
      .map((each) => ({ text: each, isProse: false })),
  ];
}

function afterCue(text: string): string | undefined {
  const last = [...text.matchAll(CUE)].at(-1);
  return last && text.slice(last.index + last[0].length);
}

interface Found {
  content: string;
  from: number;
  to: number;
}

function mathIn(text: string): Found[] {
  return [...text.matchAll(MATH)].map((match) => {
    const content = match.slice(1).find((group) => group !== undefined) ?? "";
    const to = match.index + match[0].length;
    return { content: PERCENT.test(text.slice(to)) ? `${content}\\%` : content, from: match.index, to };
  });
}

/** Near the beginning of what follows a cue. */
function firstMath(text: string): string | undefined {
  const all = mathIn(text);
  const [first] = all;
  if (!first || first.from > 50) return undefined;
  let end = 1;
  while (isJoined(text, all[end - 1], all[end])) end++;
  return joined(all.slice(0, end));
}

function lastMath(text: string): string | undefined {
  const all = mathIn(text);
  if (all.length === 0) return undefined;
  let start = all.length - 1;
  while (isJoined(text, all[start - 1], all[start])) start--;
  return joined(all.slice(start));
}

/** `$1$ and $2$` are one answer. */
function isJoined(text: string, before: Found | undefined, after: Found | undefined): boolean {
  return before !== undefined && after !== undefined && BETWEEN.test(text.slice(before.to, after.from));
}

function joined(found: readonly Found[]): string {
  return found.map(({ content }) => content).join(", ");
}

/** Whether the number behind is a bound, or a part, of what an integral or the like is of: no answer of its own. */
function isBehindOperator(before: string): boolean {
  const at = [...before.matchAll(OPERATOR)].at(-1)?.index;
  if (at === undefined) return false;
  const bare = before.slice(at).replaceAll(BRACES, "").replaceAll(BRACES, "");
  return !SAID.test(bare);
}

function lastNumber(text: string, which: "first" | "last"): string | undefined {
  const all = [...text.matchAll(NUMBERS)];
  const found = which === "first" ? all[0] : all.at(-1);
  return found && !isBehindOperator(text.slice(0, found.index)) ? found[0] : undefined;
}
