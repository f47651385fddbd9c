/** Runs at most `concurrency` tasks side by side, in the order they were given. */
export function createLimit(concurrency: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function run<T>(task: () => Promise<T>): Promise<T> {
    if (running >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      // The place goes to the next in line without being free in between.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return run;
}
