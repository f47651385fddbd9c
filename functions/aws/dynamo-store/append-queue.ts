export interface Appended {
  seq: number;
  /** The seq that the next event gets, as far as this process knows: others may have added more. */
  next: number;
}

/**
 * Lets the appends of this process to one stream go one after another. They would contend for the same seq
 * otherwise, and all but one of them would have to look again.
 */
export class AppendQueue {
  /** The last of those that wait, for each stream that has any. */
  readonly #tails = new Map<string, Promise<number | undefined>>();

  /** `work` gets what the append right before it left as the next seq, undefined if there was none. */
  async run<T extends Partial<Appended>>(
    stream: string,
    work: (next: number | undefined) => Promise<T>,
  ): Promise<T> {
    const before = this.#tails.get(stream) ?? Promise.resolve(undefined);
    const result = before.then(work);
    const tail = result.then(
      ({ next }) => next,
      () => undefined,
    );
    this.#tails.set(stream, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(stream) === tail) this.#tails.delete(stream);
    }
  }
}
