const LINES_PER_CALL = 50;
const METHODS = ["debug", "error", "info", "log", "warn"] as const;

type Console = Pick<globalThis.Console, (typeof METHODS)[number]>;

/**
 * Lets through the first lines of each call and counts the rest: a `console.log` per row would otherwise cost
 * more than the reward. Returns how to start counting anew.
 */
export function capConsole(target: Console): () => void {
  let left = LINES_PER_CALL;
  for (const method of METHODS) {
    const write = target[method].bind(target);
    target[method] = (...values: unknown[]) => {
      if (left > 0) write(...values);
      if (left === 0) write(`(more than ${LINES_PER_CALL} lines in one call; the rest is dropped)`);
      left -= 1;
    };
  }
  return () => {
    left = LINES_PER_CALL;
  };
}
