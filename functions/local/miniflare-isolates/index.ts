import type { Isolates } from "../../ports/isolates.ts";
import type { UserMessage } from "../../isolate-host/isolate.ts";
import { createIsolates } from "../../isolate-host/isolates.ts";
import { loadMiniflare } from "./load-miniflare.ts";
import { startMiniflare } from "./miniflare-process.ts";

export interface MiniflareIsolatesParams {
  /** Longest time until a module is loaded. Default 10 s. */
  loadTimeoutMs?: number;
  /** An isolate that was not called for this long is ended; the next call starts it again. Default: never. */
  idleTimeoutMs?: number;
  /** Gets what user code prints, capped. */
  onMessage?: (message: UserMessage) => void;
  /** Lets a debugger in: the folder that the bundle's source map is relative to. One isolate at a time then. */
  inspector?: { port: number; sourceFolder: string };
}

export interface MiniflareIsolates extends Isolates {
  /** What it does not enforce. */
  readonly notes: string[];
}

/** Why no memory is limited here, for those who rely on it. */
export const UNLIMITED =
  "miniflare does not limit memory; use workerd-isolates for code that is not your own";

/** A year: what is developed is never idle. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * User code in miniflare, for developing it: it can be stopped at breakpoints. Nothing limits its memory, and it
 * listens on a port of this machine; control planes use workerd-isolates.
 *
 * @throws SpotterError `package_missing` if the optional package miniflare is not installed.
 */
export async function createMiniflareIsolates(
  params: MiniflareIsolatesParams = {},
): Promise<MiniflareIsolates> {
  const { loadTimeoutMs = 10_000, idleTimeoutMs = NEVER_MS, onMessage = () => {}, inspector } = params;
  const miniflare = await loadMiniflare();
  const isolates = createIsolates({
    start: (start) => startMiniflare({ ...start, miniflare, startTimeoutMs: loadTimeoutMs, inspector }),
    loadTimeoutMs,
    idleTimeoutMs,
    onMessage,
  });
  return { notes: [UNLIMITED], load: isolates.load, close: isolates.close };
}
