import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Isolates } from "../../ports/isolates.ts";
import type { UserMessage } from "../../isolate-host/isolate.ts";
import { createIsolates } from "../../isolate-host/isolates.ts";
import { startProcess } from "./isolate-process.ts";
import { launcher } from "./limits.ts";

/** Leaves room for `/isolate-PID-XXXXXX/s`. */
const MAX_FOLDER_BYTES = 72;

/** Processes of one bundle in steady use; each may need the memory of an isolate. */
const MAX_LANES = 4;

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
  onMessage?: (message: UserMessage) => void;
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
  mkdirSync(workDir, { recursive: true, mode: 0o700 });
  removeLeftovers(workDir);
  const limits = launcher(memoryMiB, params.findProgram);
  const isolates = createIsolates({
    start: (start) =>
      startProcess({ ...start, launcher: limits, workDir, memoryMiB, startTimeoutMs: loadTimeoutMs }),
    loadTimeoutMs,
    idleTimeoutMs,
    onMessage,
    maxLanes: Math.min(MAX_LANES, availableParallelism()),
  });
  return {
    notes: limits.notes,
    get running() {
      return isolates.running;
    },
    load: isolates.load,
    close: isolates.close,
  };
}

/** Paths of sockets are short, on macOS 104 bytes; below a deep folder the system's temporary one has to do. */
function fitting(folder: string): string {
  return Buffer.byteLength(folder) <= MAX_FOLDER_BYTES ? folder : tmpdir();
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
