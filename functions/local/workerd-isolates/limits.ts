import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

/** Data that V8 reserves before user code has allocated anything, as measured. */
const V8_OVERHEAD_MIB = 512;

export interface Launcher {
  command: string;
  args: string[];
  /** What this machine cannot enforce, for `spotter status`. */
  notes: string[];
  /** Whether the kernel holds the memory limit; otherwise resident memory has to be watched. */
  limitsMemory: boolean;
}

/**
 * The command that starts workerd within a memory limit (heap, and the same again for typed arrays) and lets it die with this process. `--max-heap-size`
 * does not cover typed arrays, and `--as` cannot be used because V8 reserves an address cage; `--data` works.
 */
export function launcher(
  memoryMiB: number,
  find: (name: string) => string | undefined = findProgram,
): Launcher {
  const workerd = workerdPath();
  const prlimit = find("prlimit");
  const setpriv = find("setpriv");
  const wrapped = [
    ...(prlimit ? [prlimit, `--data=${(V8_OVERHEAD_MIB + 2 * memoryMiB) * 1024 * 1024}`, "--core=0"] : []),
    ...(setpriv ? [setpriv, "--pdeathsig", "KILL"] : []),
    workerd,
  ];
  const [command = workerd, ...args] = wrapped;
  const notes = [
    ...(prlimit
      ? []
      : ["prlimit not found: isolate memory is watched every 20 ms instead of limited by the kernel"]),
    ...(setpriv ? [] : ["setpriv not found: isolates outlive a control plane that is ended by force"]),
  ];
  return { command, args, notes, limitsMemory: prlimit !== undefined };
}

function workerdPath(): string {
  // The package's main module knows the binary of this platform, whether or not its install script ran.
  const { default: path } = createRequire(import.meta.url)("workerd") as { default: string };
  return path;
}

function findProgram(name: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  const folders = (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
