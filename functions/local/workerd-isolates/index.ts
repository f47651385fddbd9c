import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IsolateBundle, IsolateHandle, Isolates } from "../../ports/isolates.ts";
import { batchesOf, runRows } from "../isolate-main/batch.ts";
import { Isolate, type IsolateSettings } from "./isolate.ts";
import { launcher } from "./limits.ts";

/** Leaves room for `/isolate-PID-XXXXXX/s`. */
const MAX_FOLDER_BYTES = 72;

export interface WorkerdIsolatesParams {
  /** Folder for sockets and generated files. Default: the system's temporary folder. */
  workDir?: string;
  /** JavaScript heap, and the same again for typed arrays, per isolate. Default 256. */
  memoryMiB?: number;
  /** Longest time until a module is loaded. Default 10 s. */
  loadTimeoutMs?: number;
  /** An isolate that was not called for this long is ended; the next call starts it again. Default 60 s. */
  idleTimeoutMs?: number;
  /** Where prlimit and setpriv are; undefined if this machine has none. Default: looked up in PATH, on Linux. */
  findProgram?: (name: string) => string | undefined;
  /** Gets what user code prints, capped. */
  onMessage?: IsolateSettings["onMessage"];
}

export interface WorkerdIsolates extends Isolates {
  /** What this machine cannot enforce, for `spotter status`. */
  readonly notes: string[];
  /** Processes alive now. */
  readonly running: number;
}

/**
 * User code in workerd processes, one for each bundle and its grants. This protects the control plane from
 * mistakes in user code: endless loops, memory, network, files. workerd alone is no sandbox against an attacker.
 *
 * globalThis lives as long as the process: it may persist between calls or start anew at any of them.
 */
export function createWorkerdIsolates(params: WorkerdIsolatesParams = {}): WorkerdIsolates {
  const { memoryMiB = 256, loadTimeoutMs = 10_000, idleTimeoutMs = 60_000, onMessage = () => {} } = params;
  const workDir = fitting(params.workDir ?? tmpdir());
  mkdirSync(workDir, { recursive: true });
  removeLeftovers(workDir);
  const live = new Set<Isolate>();
  let isClosed = false;
  const settings: IsolateSettings = {
    launcher: launcher(memoryMiB, params.findProgram),
    workDir,
    memoryMiB,
    loadTimeoutMs,
    idleTimeoutMs,
    onMessage,
    live,
    isClosed: () => isClosed,
  };
  const opening = new Map<string, Promise<IsolateHandle>>();
  // Weak: a bundle of some megabytes stays in memory while somebody may call it, not for ever.
  const opened = new Map<string, WeakRef<IsolateHandle>>();
  return {
    notes: settings.launcher.notes,
    get running() {
      return [...live].filter((isolate) => isolate.isRunning).length;
    },
    async load(bundle) {
      const key = identity(bundle);
      const known = opened.get(key)?.deref() ?? opening.get(key);
      if (known) return known;
      for (const [each, handle] of opened) if (!handle.deref()) opened.delete(each);
      const start = openHandle(new Isolate(bundle, settings));
      opening.set(key, start);
      try {
        const handle = await start;
        opened.set(key, new WeakRef(handle));
        return handle;
      } finally {
        // Code that does not load is not remembered: it may have been the machine's fault.
        opening.delete(key);
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...live].map((isolate) => isolate.close()));
    },
  };
}

/** Paths of sockets are short, on macOS 104 bytes; below a deep folder the system's temporary one has to do. */
function fitting(folder: string): string {
  return Buffer.byteLength(folder) <= MAX_FOLDER_BYTES ? folder : tmpdir();
}

async function openHandle(isolate: Isolate): Promise<IsolateHandle> {
  await isolate.start();
  isolate.rest();
  // One call at a time: an isolate has one thread, and a stuck call takes its neighbours down with it.
  let last: Promise<unknown> = Promise.resolve();
  const callAll: IsolateHandle["callAll"] = (exportNames, rows, options) => {
    // Before its turn, so that this work and that of the isolate overlap.
    const batches = batchesOf(rows);
    const result = last.then(async () => {
      try {
        return await runRows(isolate, exportNames, batches, options);
      } finally {
        isolate.rest();
      }
    });
    last = result.catch(() => {});
    return result;
  };
  return {
    get exports() {
      return isolate.exports;
    },
    get others() {
      return isolate.others;
    },
    callAll,
    call: async (exportName, rows, options) => (await callAll([exportName], rows, options))[0] ?? [],
  };
}

/** Secrets and hosts are part of it: code with a grant never shares memory with code without. */
function identity({ sha256, secrets, allowHosts = [] }: IsolateBundle): string {
  const grants = JSON.stringify([Object.entries(secrets).sort(), [...allowHosts].sort()]);
  return createHash("sha256").update(sha256).update(grants).digest("hex");
}

/** Folders of control planes that were ended by force. */
function removeLeftovers(workDir: string): void {
  for (const name of readdirSync(workDir)) {
    const pid = Number(/^isolate-(\d+)-/.exec(name)?.[1] ?? 0);
    if (pid > 0 && !isAlive(pid)) rmSync(join(workDir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
