/** Why a whole call came back with nothing. Never leaves this folder: batches turn it into row errors. */
export class IsolateFailure extends Error {
  readonly code: "timeout" | "isolate_out_of_memory" | "isolate_crashed" | "payload_too_large";

  constructor(code: IsolateFailure["code"], message: string) {
    super(message);
    this.name = "IsolateFailure";
    this.code = code;
  }
}

// Where the kernel's limit stops V8 before its own does, all it says is "Last few GCs".
const OUT_OF_MEMORY =
  /out of memory|last few gcs|allocation failed|heap limit|bad_alloc|cannot allocate memory/i;

/** What the end of a process means, from its exit and the last it wrote. */
export function failureOfExit(
  exit: { code: number | null; signal: NodeJS.Signals | null },
  stderrTail: string,
  memoryMiB: number,
): IsolateFailure {
  if (OUT_OF_MEMORY.test(stderrTail)) {
    return new IsolateFailure("isolate_out_of_memory", `the isolate used more than its ${memoryMiB} MiB`);
  }
  const how = exit.signal ? `by ${exit.signal}` : `with code ${exit.code}`;
  const last = messageOf(stderrTail.trim().split("\n").at(-1) ?? "").slice(0, 500);
  return new IsolateFailure("isolate_crashed", `the isolate ended ${how}${last ? `: ${last}` : ""}`);
}

/** What a line of the structured log says; other lines as they are. */
function messageOf(line: string): string {
  try {
    const { message } = JSON.parse(line) as { message?: unknown };
    return typeof message === "string" ? message : line;
  } catch {
    return line;
  }
}
