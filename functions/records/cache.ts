/** A value and its version in the Store. */
export interface Versioned<T> {
  value: T;
  version: number;
}

/** Documents kept in memory, for as long as all their writers are in this process. What is absent is not kept. */
export interface Cache<T> {
  get(id: string): Promise<T | undefined>;
  /** Writers say what they wrote; older news than what is known is ignored. */
  set(id: string, document: Versioned<T>): void;
}

export function createCache<T>(load: (id: string) => Promise<Versioned<T> | undefined>): Cache<T> {
  const known = new Map<string, Versioned<T>>();

  function set(id: string, document: Versioned<T>): void {
    const before = known.get(id);
    if (before === undefined || before.version < document.version) known.set(id, document);
  }

  return {
    async get(id) {
      if (!known.has(id)) {
        const loaded = await load(id);
        if (loaded !== undefined) set(id, loaded);
      }
      return known.get(id)?.value;
    },
    set,
  };
}
