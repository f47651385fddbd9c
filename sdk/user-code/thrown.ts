/** What is told of anything that was thrown; errors with getters that throw themselves are thrown too. */
export function thrown(error: unknown, code: string): { code: string; message: string; stack?: string } {
  try {
    if (!(error instanceof Error)) return { code, message: `it threw ${safeText(error)}` };
    const text = `${error.name}: ${error.message}`;
    const stack = String(error.stack ?? "").slice(0, 4_000);
    const finalCode = isOutOfMemory(error) ? "isolate_out_of_memory" : code;
    return { code: finalCode, message: `it threw ${text}`.slice(0, 2_000), stack };
  } catch {
    return { code, message: "it threw something that cannot be read" };
  }
}

/** workerd refuses what is above the memory limit with these RangeErrors instead of dying. */
function isOutOfMemory(error: Error): boolean {
  return (
    error instanceof RangeError &&
    /allocation failed|invalid (typed )?array (buffer )?length/i.test(error.message)
  );
}

function safeText(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 500);
  } catch {
    return typeof value;
  }
}
