/**
 * What every token writes, in the order of the bytes: neighbours share beginnings, so that a grammar reads
 * each beginning once.
 */
export class Vocabulary {
  /** Tokens that write something, in the order of their bytes. */
  readonly ids: Uint32Array;
  /** By place in `ids`. */
  readonly bytes: readonly Uint8Array[];
  /** By place in `ids`: how many first bytes are those of the token before. */
  readonly shared: Uint16Array;
  readonly #bytesOf: readonly (Uint8Array | undefined)[];

  /** `bytesOf`: by token id; control tokens and those that do not exist write nothing. */
  constructor(bytesOf: readonly (Uint8Array | undefined)[]) {
    // A letter for each byte: strings are compared much faster.
    const tokens = bytesOf.flatMap((bytes, id) =>
      bytes?.length ? [{ id, bytes, letters: Buffer.from(bytes).toString("latin1") }] : [],
    );
    tokens.sort((a, b) => (a.letters < b.letters ? -1 : a.letters > b.letters ? 1 : a.id - b.id));
    this.ids = Uint32Array.from(tokens, ({ id }) => id);
    this.bytes = tokens.map(({ bytes }) => bytes);
    this.shared = Uint16Array.from(this.bytes, (bytes, at) => sharedBytes(this.bytes[at - 1], bytes));
    this.#bytesOf = bytesOf;
  }

  bytesOf(id: number): Uint8Array {
    return this.#bytesOf[id] ?? NOTHING;
  }
}

const NOTHING = new Uint8Array();

function sharedBytes(before: Uint8Array | undefined, bytes: Uint8Array): number {
  const most = Math.min(before?.length ?? 0, bytes.length);
  let shared = 0;
  while (shared < most && before?.[shared] === bytes[shared]) shared++;
  return shared;
}
