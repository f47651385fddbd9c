import { type LogicalLine, type PythonFault, type Token, tokenize } from "./tokens.ts";

/** A statement, or the head of one with its block. */
export interface Statement {
  /** Without the colon that opens a block. */
  tokens: Token[];
  /** Of a compound statement. */
  body?: Statement[];
}

export interface PythonModule {
  statements: Statement[];
  fault?: PythonFault;
}

const COMPOUND = new Set([
  "if",
  "elif",
  "else",
  "for",
  "while",
  "try",
  "except",
  "finally",
  "with",
  "def",
  "class",
  "async",
  "match",
  "case",
]);

/** Source as a tree of statements, by indentation. */
export function parsePython(source: string): PythonModule {
  const { lines, fault } = tokenize(source);
  const reader = new BlockReader(lines);
  const statements = reader.block(lines[0]?.indent ?? 0);
  const first = fault ?? reader.fault;
  return { statements, ...(first && { fault: first }) };
}

class BlockReader {
  readonly #lines: readonly LogicalLine[];
  #next = 0;
  fault: PythonFault | undefined;

  constructor(lines: readonly LogicalLine[]) {
    this.#lines = lines;
  }

  block(indent: number): Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      const line = this.#lines[this.#next];
      if (!line || line.indent < indent || this.fault) return statements;
      if (line.indent > indent) {
        this.#unexpected(line, "is indented, and nothing before it opens a block");
        return statements;
      }
      this.#next++;
      statements.push(...this.#line(line));
    }
  }

  #line(line: LogicalLine): Statement[] {
    const colon = colonOf(line.tokens);
    if (colon === undefined) return simple(line.tokens);
    const head = line.tokens.slice(0, colon);
    const rest = line.tokens.slice(colon + 1);
    if (rest.length > 0) return [{ tokens: head, body: simple(rest) }];
    const following = this.#lines[this.#next];
    if (following && following.indent > line.indent)
      return [{ tokens: head, body: this.block(following.indent) }];
    const last = line.tokens[colon];
    if (last && !this.fault)
      this.fault = { message: "an indented block has to follow", line: last.line, column: last.column };
    return [{ tokens: head, body: [] }];
  }

  #unexpected(line: LogicalLine, message: string): void {
    const [token] = line.tokens;
    if (token)
      this.fault ??= { message: `"${token.text}" ${message}`, line: token.line, column: token.column };
  }
}

/** Where the block of a compound statement opens: a colon outside of brackets and of a lambda. */
function colonOf(tokens: readonly Token[]): number | undefined {
  const word = tokens[0]?.text ?? "";
  if (!COMPOUND.has(word)) return undefined;
  // Names as well: `match: str = "x"`, `case[0]: int`.
  const isSoft = word === "match" || word === "case";
  if (isSoft && (tokens[1]?.text === ":" || tokens[1]?.text === "=")) return undefined;
  let depth = 0;
  let lambdas = 0;
  for (const [index, { text, kind }] of tokens.entries()) {
    if (kind === "text") continue;
    if ("([{".includes(text)) depth++;
    else if (")]}".includes(text)) depth--;
    else if (text === "lambda" && depth === 0) lambdas++;
    else if (text === ":" && depth === 0) {
      if (lambdas === 0) return index;
      lambdas--;
    }
  }
  return undefined;
}

function simple(tokens: readonly Token[]): Statement[] {
  return splitAt(tokens, ";").flatMap((each) => (each.length > 0 ? [{ tokens: each }] : []));
}

/** Pieces between separators outside of brackets. */
export function splitAt(tokens: readonly Token[], separator: string): Token[][] {
  const pieces: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === "operator") {
      if ("([{".includes(token.text)) depth++;
      if (")]}".includes(token.text)) depth--;
    }
    if (depth === 0 && token.text === separator && token.kind === "operator") pieces.push([]);
    else pieces.at(-1)?.push(token);
  }
  return pieces;
}

/** Tokens as one text, with spaces only where words would run together. */
export function sourceOf(tokens: readonly Token[]): string {
  return tokens.reduce((text, { text: next }) => {
    const isGap = /\w$/.test(text) && /^\w/.test(next);
    return `${text}${isGap ? " " : ""}${next}`;
  }, "");
}
