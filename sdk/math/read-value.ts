import { cleanLatex } from "./clean-latex.ts";
import { readExpression } from "./read-expression.ts";
import { tokensOf, type Token } from "./tokens.ts";
import { withoutUnits } from "./units.ts";
import type { MathValue, RelationOperator } from "./value.ts";

const OPEN = ["(", "[", "{", "\\{", "\\lfloor", "\\lceil"];
const CLOSE = [")", "]", "}", "\\}", "\\rfloor", "\\rceil"];
const RELATIONS: Readonly<Record<string, RelationOperator>> = {
  "=": "=",
  "\\equiv": "=",
  "\\approx": "=",
  "<": "<",
  ">": ">",
  "\\le": "<=",
  "\\ge": ">=",
  "\\ne": "!=",
};
/** Longer is no answer. */
const MAX_CHARACTERS = 4_000;
/** Each of a set is compared with each of the other. */
const MAX_ITEMS = 100;

/** Reads an answer in LaTeX or as keyboards write it. Undefined where it is prose, or nothing. */
export function readValue(text: string, { isProse = false } = {}): MathValue | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const clean = cleanLatex(text);
  const tokens = clean === "" ? undefined : tokensOf(clean, { isProse });
  if (tokens === undefined) return undefined;
  const value = listOf(tokens);
  if (!isProse) return value;
  return hasText(value) ? undefined : value;
}

/** What has commas between its parts; else the one part. */
function listOf(tokens: readonly Token[]): MathValue {
  const parts = split(tokens, [",", ";"]).filter((part) => part.length > 0);
  if (parts.length < 2) return relationOf(parts[0] ?? []);
  return parts.length > MAX_ITEMS ? wordsOf(tokens) : { kind: "set", items: parts.map(relationOf) };
}

function relationOf(tokens: readonly Token[]): MathValue {
  const member = split(tokens, ["\\in"]);
  if (member.length === 2 && member[1]) return unionOf(member[1]);
  const depths = depthsOf(tokens);
  const operators = tokens.filter((token, at) => depths[at] === 0 && signOf(token) in RELATIONS);
  if (operators.length === 0) return unionOf(tokens);
  const parts = split(tokens, Object.keys(RELATIONS));
  if (parts.some((part) => part.length === 0)) return wordsOf(tokens);
  return {
    kind: "relation",
    parts: parts.map(unionOf),
    operators: operators.map((token) => RELATIONS[token.text] ?? "="),
  };
}

function unionOf(tokens: readonly Token[]): MathValue {
  const [all = [], ...without] = split(tokens, ["\\setminus", "\\backslash"]);
  const parts = split(all, ["\\cup"]);
  if (parts.length < 2 && without.length === 0) return bracketsOf(tokens);
  return { kind: "union", parts: parts.map(bracketsOf), without: without.map(bracketsOf) };
}

function bracketsOf(given: readonly Token[]): MathValue {
  const tokens = withoutUnits(given);
  const [first, last] = [tokens[0], tokens.at(-1)];
  const text = tokens.map((token) => token.text).join("");
  if (text === "\\emptyset") return { kind: "set", items: [] };
  if (text === "\\reals") return reals();
  if (text.startsWith("\\begin{")) return matrixOf(tokens);
  const isWhole =
    signOf(first) !== "" && OPEN.includes(signOf(first)) && closingOf(tokens) === tokens.length - 1;
  if (isWhole) {
    const inner = tokens.slice(1, -1);
    if (signOf(first) === "\\{") return setOf(inner);
    const parts = split(inner, [",", ";"]);
    if (
      parts.length > 1 &&
      parts.length <= MAX_ITEMS &&
      parts.every((part) => part.length > 0) &&
      signOf(first) !== "{"
    )
      return tupleOf(parts.map(relationOf), signOf(first) === "(", signOf(last) === ")");
    if (signOf(first) === "{") return listOf(inner);
  }
  return plusMinusOf(tokens) ?? readExpression(tokens) ?? wordsOf(tokens);
}

function setOf(inner: readonly Token[]): MathValue {
  if (inner.length === 0) return { kind: "set", items: [] };
  const list = listOf(inner);
  return list.kind === "set" ? list : { kind: "set", items: [list] };
}

function tupleOf(items: MathValue[], isOpenLeft: boolean, isOpenRight: boolean): MathValue {
  const [from, to] = items;
  if (items.length !== 2 || !from || !to) return { kind: "tuple", items };
  return { kind: "interval", from, to, isOpenLeft, isOpenRight };
}

function reals(): MathValue {
  const end = (sign: string): MathValue =>
    readExpression([
      ...(sign === "" ? [] : [{ type: "sign" as const, text: sign }]),
      { type: "sign", text: "\\infty" },
    ]) ?? {
      kind: "text",
      text: "",
    };
  return { kind: "interval", from: end("-"), to: end(""), isOpenLeft: true, isOpenRight: true };
}

/** `\pm 1` is two numbers. */
function plusMinusOf(tokens: readonly Token[]): MathValue | undefined {
  if (!tokens.some((token) => signOf(token) === "\\pm")) return undefined;
  const items = ["+", "-"].map((sign) =>
    readExpression(tokens.map((token) => (signOf(token) === "\\pm" ? { type: "sign", text: sign } : token))),
  );
  return items.every((item) => item !== undefined) ? { kind: "set", items } : undefined;
}

function matrixOf(tokens: readonly Token[]): MathValue {
  if (!tokens.at(-1)?.text.startsWith("\\end{")) return wordsOf(tokens);
  const rows = split(tokens.slice(1, -1), ["\\\\"]).filter((row) => row.length > 0);
  return { kind: "matrix", rows: rows.map((row) => split(row, ["&"]).map(bracketsOf)) };
}

/** Compared by its letters: what LaTeX writes around them says nothing. */
function wordsOf(tokens: readonly Token[]): MathValue {
  return { kind: "text", text: tokens.map(({ text }) => text).join("") };
}

function hasText(value: MathValue): boolean {
  if (value.kind === "text") return true;
  if (value.kind === "set" || value.kind === "tuple") return value.items.some(hasText);
  if (value.kind === "relation") return value.parts.some(hasText);
  return value.kind === "interval" && (hasText(value.from) || hasText(value.to));
}

function signOf(token: Token | undefined): string {
  return token?.type === "sign" ? token.text : "";
}

/** How many brackets are open before each token. */
function depthsOf(tokens: readonly Token[]): number[] {
  let depth = 0;
  return tokens.map((token) => {
    const text = signOf(token);
    if (CLOSE.includes(text) || text.startsWith("\\end{")) depth--;
    const here = depth;
    if (OPEN.includes(text) || text.startsWith("\\begin{")) depth++;
    return here;
  });
}

/** Where the first bracket closes. */
function closingOf(tokens: readonly Token[]): number {
  return depthsOf(tokens).findIndex(
    (depth, at) => at > 0 && depth === 0 && CLOSE.includes(signOf(tokens[at])),
  );
}

/** At these signs, outside of brackets. */
function split(tokens: readonly Token[], at: readonly string[]): Token[][] {
  const depths = depthsOf(tokens);
  const parts: Token[][] = [[]];
  tokens.forEach((token, index) => {
    if (depths[index] === 0 && at.includes(signOf(token))) parts.push([]);
    else parts.at(-1)?.push(token);
  });
  return parts;
}
