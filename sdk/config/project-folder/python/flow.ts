import type { Statement } from "./statements.ts";
import type { Token } from "./tokens.ts";

/** Whether every way through a block ends in `return` or `raise`; what cannot be told counts as if it did. */
export function alwaysEnds(block: readonly Statement[]): boolean {
  for (let index = 0; index < block.length; index++) {
    const statement = block[index];
    const word = wordOf(statement);
    if (word === "return" || word === "raise" || word === "continue" || word === "break") return true;
    if (word === "while" && isTrue(statement?.tokens.slice(1)) && !breaks(statement?.body ?? [])) return true;
    if (word === "with" || word === "async") {
      if (statement?.tokens.some(({ text }) => text === "with") && alwaysEnds(statement.body ?? []))
        return true;
      continue;
    }
    if (word === "if" || word === "try" || word === "match") {
      if (chainEnds(block, index)) return true;
    }
  }
  return false;
}

/** `if` with its `elif`s and `else`, `try` with its `except`s, or `match` with its cases. */
function chainEnds(block: readonly Statement[], start: number): boolean {
  const first = block[start];
  if (wordOf(first) === "match") {
    const cases = first?.body ?? [];
    const hasRest = cases.some(({ tokens }) => tokens.length === 2 && tokens[1]?.text === "_");
    return hasRest && cases.every(({ body }) => alwaysEnds(body ?? []));
  }
  const chain = [first];
  for (const next of block.slice(start + 1)) {
    if (!["elif", "else", "except", "finally"].includes(wordOf(next))) break;
    chain.push(next);
  }
  const byWord = (word: string) => chain.filter((each) => wordOf(each) === word);
  if (byWord("finally").some((each) => alwaysEnds(each?.body ?? []))) return true;
  if (wordOf(first) === "if")
    return byWord("else").length > 0 && chain.every((each) => alwaysEnds(each?.body ?? []));
  const handled = byWord("except").every((each) => alwaysEnds(each?.body ?? []));
  const done = alwaysEnds(first?.body ?? []) || byWord("else").some((each) => alwaysEnds(each?.body ?? []));
  return done && handled;
}

/** Every `return` of a function itself, not of functions within it. */
export function returnsOf(block: readonly Statement[]): Token[][] {
  return block.flatMap(({ tokens, body }) => {
    const [first] = tokens;
    if (isFunction(tokens) || first?.text === "class") return [];
    return [...(first?.text === "return" ? [tokens] : []), ...returnsOf(body ?? [])];
  });
}

/** Whether a statement begins a function. */
export function isFunction(tokens: readonly Token[]): boolean {
  return tokens[0]?.text === "def" || (tokens[0]?.text === "async" && tokens[1]?.text === "def");
}

/** Every statement of a block, those of blocks within it included. */
export function allStatements(block: readonly Statement[]): Statement[] {
  return block.flatMap((each) => [each, ...allStatements(each.body ?? [])]);
}

export function contains(block: readonly Statement[], test: (tokens: readonly Token[]) => boolean): boolean {
  return block.some(({ tokens, body }) => test(tokens) || contains(body ?? [], test));
}

function breaks(block: readonly Statement[]): boolean {
  return block.some((each) => {
    const word = wordOf(each);
    return word === "break" || (word !== "for" && word !== "while" && breaks(each.body ?? []));
  });
}

function wordOf(statement: Statement | undefined): string {
  return statement?.tokens[0]?.kind === "name" ? statement.tokens[0].text : "";
}

function isTrue(tokens: readonly Token[] | undefined): boolean {
  return tokens?.length === 1 && (tokens[0]?.text === "True" || tokens[0]?.text === "1");
}
