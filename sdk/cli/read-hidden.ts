import type { ReadStream } from "node:tty";
import type { Writable } from "node:stream";

const INTERRUPT = "\u0003";
const END = new Set(["\r", "\n", "\u0004"]);
const ERASE = new Set(["\u007f", "\b"]);

/** Asks on a terminal for a value that does not appear there. Rejects when `signal` or Ctrl-C ends it. */
export async function readHidden(
  question: string,
  terminal: Pick<ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause">,
  show: Writable,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  show.write(question);
  terminal.setRawMode(true);
  terminal.resume();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let value = "";
  const onData = (chunk: Buffer): void => {
    for (const key of chunk.toString()) {
      if (key === INTERRUPT) return reject(new Error("Interrupted."));
      if (END.has(key)) return resolve(value);
      value = ERASE.has(key) ? value.slice(0, -1) : value + key;
    }
  };
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  terminal.on("data", onData);
  try {
    return await promise;
  } finally {
    terminal.off("data", onData);
    signal.removeEventListener("abort", onAbort);
    terminal.setRawMode(false);
    terminal.pause();
    show.write("\n");
  }
}
