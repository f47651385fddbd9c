const LINES_PER_CALL = 50;

/**
 * Lets through the first lines of each call, then the hundredth, the thousandth and so on: a `console.log` per
 * row would otherwise cost more than the reward. Returns how to start counting anew.
 */
export function capConsole(target: object): () => void {
  const methods = target as Record<string, unknown>;
  let lines = 0;
  for (const name of Object.keys(methods)) {
    const write = methods[name];
    if (typeof write !== "function") continue;
    methods[name] = (...values: unknown[]): unknown => {
      lines += 1;
      if (lines <= LINES_PER_CALL) return write.apply(target, values) as unknown;
      if (!isPowerOfTen(lines)) return undefined;
      const result: unknown = write.call(
        target,
        `(line ${lines} of this call; those since line ${shownBefore(lines)} are dropped)`,
        ...values,
      );
      return result;
    };
  }
  return () => {
    lines = 0;
  };
}

function isPowerOfTen(lines: number): boolean {
  return Number.isInteger(Math.log10(lines));
}

function shownBefore(lines: number): number {
  return Math.max(LINES_PER_CALL, lines / 10);
}
