/** What this needs of `process`. */
interface Emitter {
  on(event: "warning", listener: (warning: Error) => void): unknown;
  removeAllListeners(event: "warning"): unknown;
}

/**
 * Says what the SDK warns of as a sentence of ours, each once, and everything else as Node does: a process number and
 * the name of a class help nobody who runs a command.
 */
export function tellWarnings(emitter: Emitter, err: { write(text: string): unknown }): void {
  const before = new Set<string>();
  emitter.removeAllListeners("warning");
  emitter.on("warning", ({ name, message }) => {
    const line = name === "SpotterWarning" ? `Note: ${message}` : `${name}: ${message}`;
    if (before.has(line)) return;
    before.add(line);
    err.write(`${line}\n`);
  });
}
