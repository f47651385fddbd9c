/** Turns tokens into text one by one; the bytes of a character that is not complete wait for the rest. */
export class StreamDecoder {
  readonly #bytesOf: (id: number) => Uint8Array;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #stripSpace: boolean;

  /** `stripSpace` drops one space at the very beginning. */
  constructor(bytesOf: (id: number) => Uint8Array, stripSpace: boolean) {
    this.#bytesOf = bytesOf;
    this.#stripSpace = stripSpace;
  }

  /** The text that is complete with this token; may be empty. */
  push(id: number): string {
    return this.#strip(this.#decoder.decode(this.#bytesOf(id), { stream: true }));
  }

  /** What is left once nothing more comes: U+FFFD for a character cut short. */
  end(): string {
    return this.#strip(this.#decoder.decode());
  }

  #strip(text: string): string {
    if (!this.#stripSpace || text === "") return text;
    this.#stripSpace = false;
    return text.startsWith(" ") ? text.slice(1) : text;
  }
}
