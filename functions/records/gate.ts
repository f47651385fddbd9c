/**
 * Lets what begins to use things and what removes unused ones take turns. Many may begin at a time; a removal
 * is alone, so that nothing it judged as unused is taken into use meanwhile.
 */
export interface Gate {
  /** Begins something: runs beside others, but not while something is removed. */
  begin<T>(body: () => Promise<T>): Promise<T>;
  /** Removes something: runs alone. */
  remove<T>(body: () => Promise<T>): Promise<T>;
  /** Grows with everything that began, and with every removal before which somebody may have begun. */
  readonly begun: number;
}

/** The gate of one process. */
export function createGate(): Gate {
  const running = new Set<Promise<unknown>>();
  let removal: Promise<unknown> = Promise.resolve();
  let begun = 0;
  return {
    get begun() {
      return begun;
    },
    async begin(body) {
      let awaited: Promise<unknown> | undefined;
      while (awaited !== removal) {
        awaited = removal;
        await awaited;
      }
      begun++;
      const work = body();
      const settled = work.catch(() => undefined);
      running.add(settled);
      try {
        return await work;
      } finally {
        running.delete(settled);
      }
    },
    remove(body) {
      const before = removal;
      const work = (async () => {
        await before;
        await Promise.all(running);
        return body();
      })();
      removal = work.catch(() => undefined);
      return work;
    },
  };
}
