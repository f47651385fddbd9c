import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DaemonFile } from "../../sdk/schema/status.ts";
import { until } from "./processes.ts";

const entry = fileURLToPath(new URL("../../functions/node.ts", import.meta.url));
const faultyStore = fileURLToPath(new URL("../fixtures/local/faulty-store.ts", import.meta.url));

/** The daemon of a state folder, as a child of the test. */
export interface ChaosDaemon {
  readonly pid: number;
  readonly file: DaemonFile;
  /** kill -9, and waits until the process is gone. */
  kill(): Promise<void>;
  /** The clean end: containers end with it. */
  end(): Promise<void>;
}

/** Starts a daemon and resolves when it listens. `fault`: see faulty-store.ts. */
export async function startDaemon(home: string, fault?: string): Promise<ChaosDaemon> {
  const faulty = fault === undefined ? [] : ["--import", faultyStore];
  const child = spawn(process.execPath, ["--no-warnings", ...faulty, entry, "--port", "0"], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, SPOTTER_HOME: home, SPOTTER_TEST_FAULT: fault },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaints = "";
  child.stderr?.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const pid = child.pid ?? 0;
  const file = await until("A daemon that listens", () => {
    if (hasEnded(child)) throw new Error(`The daemon ended: ${complaints}`);
    return readFile(home, pid);
  });
  const signalled = async (signal: NodeJS.Signals) => {
    if (hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  return { pid, file, kill: () => signalled("SIGKILL"), end: () => signalled("SIGTERM") };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Where the daemon of a folder says that it listens. */
export function readDaemonUrl(home: string): string {
  return (JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as DaemonFile).url;
}

/** An earlier daemon that was killed left its file: only the one of this process counts. */
function readFile(home: string, pid: number): DaemonFile | undefined {
  try {
    const file = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as DaemonFile;
    return file.pid === pid ? file : undefined;
  } catch {
    return undefined;
  }
}
