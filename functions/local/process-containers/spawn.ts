import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import type { ContainerPaths } from "../local-containers/record.ts";

/**
 * A shell around the program writes its exit code down, so that the code is known even when the daemon
 * that started it is gone. It outlives the signals that are meant for the program. Its first argument,
 * the file of the exit code, is unique and names the container in the list of processes.
 */
const SHELL_SCRIPT = `exit_file=$1; shift
trap : TERM INT HUP
"$@"
code=$?
printf %s "$code" > "$exit_file"
exit "$code"`;

export interface SpawnOptions {
  paths: ContainerPaths;
  /** For the list of processes. */
  name: string;
  /** The program and its arguments. */
  command: readonly string[];
  environment: Record<string, string>;
}

/** Starts a program as the leader of a process group of its own; its output goes to the log file. */
export function spawnContainer({ paths, name, command, environment }: SpawnOptions): ChildProcess {
  mkdirSync(paths.work, { recursive: true, mode: 0o700 });
  const log = openSync(paths.log, "a", 0o600);
  try {
    return spawn("/bin/sh", ["-c", SHELL_SCRIPT, name, paths.exitCode, ...command], {
      cwd: paths.work,
      env: {
        ...environment,
        SPOTTER_WORK_DIR: paths.work,
        // Beside the folder of all containers: what one installed the next one finds.
        SPOTTER_CACHE_DIR: join(paths.work, "..", "..", "cache"),
        TMPDIR: paths.work,
      },
      detached: true,
      stdio: ["ignore", log, log],
    });
  } finally {
    closeSync(log);
  }
}
