import { watch } from "node:fs";

/** Editors write a file in several steps. */
const SETTLE_MS = 80;
const IGNORED = /(^|[/\\])(node_modules|\.git|dist)([/\\]|$)|~$|\.sw[a-z]$/;

/** Resolves at the next change below a folder, once it has settled; "aborted" when the signal is. */
export function createWatch(
  folder: string,
  signal: AbortSignal,
): { next(): Promise<"changed" | "aborted">; close(): void } {
  let isChanged = false;
  let notify: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const wake = () => {
    isChanged = true;
    notify?.();
  };
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name !== null && IGNORED.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(wake, SETTLE_MS);
  });
  const onAbort = () => notify?.();
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    async next() {
      if (!isChanged && !signal.aborted) await new Promise<void>((resolve) => (notify = resolve));
      isChanged = false;
      return signal.aborted ? "aborted" : "changed";
    },
    close() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      watcher.close();
    },
  };
}
