/**
 * Takes Python source apart into logical lines of tokens, without running anything and without Python being
 * there. Texts, comments, brackets and continuation lines are followed; nothing is evaluated.
 *
 * @module
 */

export type TokenKind = "name" | "text" | "number" | "operator";

export interface Token {
  kind: TokenKind;
  /** As it is written; of a text with its quotes and prefix. */
  text: string;
  line: number;
  column: number;
}

/** What Python calls a logical line: it ends where a newline outside of brackets does. */
export interface LogicalLine {
  /** Columns of white space before it; tabs go to the next multiple of eight. */
  indent: number;
  tokens: Token[];
}

export interface PythonFault {
  message: string;
  line: number;
  column: number;
}

export interface Tokenized {
  lines: LogicalLine[];
  /** The first thing that is not Python; nothing is read after it. */
  fault?: PythonFault;
}

const SPACE = /[ \t\f\r]+/y;
const NAME = /[\p{XID_Start}_][\p{XID_Continue}]*/uy;
const NUMBER =
  /(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?[jJ]?)/y;
const PREFIX = /(?:[rbuft]|br|rb|fr|rf|tr|rt)?(?=['"])/iy;
const OPERATOR =
  /(?:\*\*=|\/\/=|>>=|<<=|\.\.\.|->|:=|\*\*|\/\/|>>|<<|[-+*/%&|^@=!<>]=|[-+*/%@&|^~<>()[\]{},:;.=])/y;
const OPENING: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

export function tokenize(source: string): Tokenized {
  return new Tokenizer(source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")).run();
}

class Tokenizer {
  readonly #source: string;
  readonly #lines: LogicalLine[] = [];
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #tokens: Token[] = [];
  #indent = 0;
  readonly #open: Token[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  run(): Tokenized {
    this.#beginLine();
    while (this.#at < this.#source.length) {
      const fault = this.#step();
      if (fault) return { lines: this.#lines, fault };
    }
    this.#endLogicalLine();
    const unclosed = this.#open.at(-1);
    if (!unclosed) return { lines: this.#lines };
    const { text, line, column } = unclosed;
    return { lines: this.#lines, fault: { message: `"${text}" is never closed`, line, column } };
  }

  #step(): PythonFault | undefined {
    const letter = this.#source[this.#at] ?? "";
    if (letter === "\n") return this.#newline();
    if (letter === "#") {
      const end = this.#source.indexOf("\n", this.#at);
      this.#at = end < 0 ? this.#source.length : end;
      return undefined;
    }
    if (letter === "\\" && /^\r?\n/.test(this.#source.slice(this.#at + 1, this.#at + 3))) {
      this.#at = this.#source.indexOf("\n", this.#at) + 1;
      this.#nextLine();
      return undefined;
    }
    if (this.#match(SPACE) !== undefined) return undefined;
    return this.#token();
  }

  #token(): PythonFault | undefined {
    const at = this.#at;
    const prefix = this.#match(PREFIX);
    if (prefix !== undefined) return this.#text(at);
    for (const [kind, pattern] of [
      ["number", NUMBER],
      ["name", NAME],
      ["operator", OPERATOR],
    ] as const) {
      const text = this.#match(pattern);
      if (text === undefined) continue;
      const token = this.#push(kind, text, at);
      return kind === "operator" ? this.#bracket(token) : undefined;
    }
    return this.#fault(`${JSON.stringify(this.#source[at] ?? "")} is no Python here`, at);
  }

  #bracket(token: Token): PythonFault | undefined {
    if (OPENING[token.text]) this.#open.push(token);
    if (!")]}".includes(token.text)) return undefined;
    const opened = this.#open.pop();
    if (opened && OPENING[opened.text] === token.text) return undefined;
    const message = opened
      ? `"${token.text}" does not close the "${opened.text}" of line ${opened.line}`
      : `"${token.text}" closes nothing`;
    return { message, line: token.line, column: token.column };
  }

  /** Of any kind: with a prefix, of three quotes, over several lines. What braces of an f-string hold is not read. */
  #text(start: number): PythonFault | undefined {
    const quote = this.#source[this.#at] ?? "";
    const isLong = this.#source.startsWith(quote.repeat(3), this.#at);
    const end = isLong ? quote.repeat(3) : quote;
    const { line, column } = this.#place(start);
    this.#at += end.length;
    for (;;) {
      const letter = this.#source[this.#at];
      if (letter === undefined || (letter === "\n" && !isLong))
        return { message: "a text is never closed", line, column };
      if (letter === "\\") {
        if (this.#source[this.#at + 1] === "\n") this.#countLine(this.#at + 2);
        this.#at += 2;
      } else if (this.#source.startsWith(end, this.#at)) {
        this.#at += end.length;
        this.#tokens.push({ kind: "text", text: this.#source.slice(start, this.#at), line, column });
        return undefined;
      } else {
        this.#at++;
        if (letter === "\n") this.#countLine(this.#at);
      }
    }
  }

  #newline(): undefined {
    this.#at++;
    if (this.#open.length > 0) this.#nextLine();
    else {
      this.#endLogicalLine();
      this.#countLine(this.#at);
      this.#beginLine();
    }
    return undefined;
  }

  #nextLine(): void {
    this.#countLine(this.#at);
  }

  #countLine(start: number): void {
    this.#line++;
    this.#lineStart = start;
  }

  #beginLine(): void {
    let indent = 0;
    for (; this.#at < this.#source.length; this.#at++) {
      const letter = this.#source[this.#at];
      if (letter === " ") indent++;
      else if (letter === "\t") indent = (Math.floor(indent / 8) + 1) * 8;
      else if (letter !== "\f" && letter !== "\r") break;
    }
    this.#indent = indent;
  }

  #endLogicalLine(): void {
    if (this.#tokens.length > 0) this.#lines.push({ indent: this.#indent, tokens: this.#tokens });
    this.#tokens = [];
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #push(kind: TokenKind, text: string, at: number): Token {
    const token = { kind, text, ...this.#place(at) };
    this.#tokens.push(token);
    return token;
  }

  #place(at: number): { line: number; column: number } {
    return { line: this.#line, column: at - this.#lineStart + 1 };
  }

  #fault(message: string, at: number): PythonFault {
    return { message, ...this.#place(at) };
  }
}
