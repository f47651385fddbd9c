import type { Token } from "./tokens.ts";

/** What was to be read is none of what is read here. */
export class Unreadable extends Error {}

/** Goes through tokens one by one. */
export class TokenReader {
  /** A copy: some are taken apart while they are read. */
  protected readonly tokens: Token[];
  protected at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = [...tokens];
  }

  protected peek(): Token | undefined {
    return this.tokens[this.at];
  }

  /** @throws Unreadable at the end */
  protected next(): Token {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Unreadable();
    return token;
  }

  /** Whether this sign came next; then it is behind us. */
  protected take(text: string): boolean {
    const token = this.peek();
    if (token?.type !== "sign" || token.text !== text) return false;
    this.at++;
    return true;
  }

  /** @throws Unreadable where another comes next */
  protected expect(text: string): void {
    if (!this.take(text)) throw new Unreadable();
  }
}
