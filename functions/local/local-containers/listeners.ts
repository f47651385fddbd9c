/** Who wants to hear of changes. */
export class Listeners {
  readonly #listeners = new Set<(jobId: string) => void>();

  /** Returns the way to stop listening. */
  add(listener: (jobId: string) => void): () => void {
    // A wrapper, so that the same function can listen twice.
    const own = (jobId: string) => listener(jobId);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  tell(jobId: string): void {
    for (const listener of this.#listeners) {
      // Later, so that a listener's failure is its own; but not to one that has left meanwhile.
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener(jobId);
      });
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
