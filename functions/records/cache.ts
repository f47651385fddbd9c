/** Values kept in memory until their writer says they changed. What is absent is not kept. */
export interface Cache<T> {
  get(id: string): Promise<T | undefined>;
  forget(id: string): void;
}

export function createCache<T>(load: (id: string) => Promise<T | undefined>): Cache<T> {
  const known = new Map<string, T>();
  let writes = 0;
  return {
    async get(id) {
      const hit = known.get(id);
      if (hit !== undefined) return hit;
      const before = writes;
      const value = await load(id);
      // A write that happened meanwhile may have outdated what was read: use it once, do not keep it.
      if (value !== undefined && writes === before) known.set(id, value);
      return value;
    },
    forget(id) {
      writes++;
      known.delete(id);
    },
  };
}
