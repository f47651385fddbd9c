import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export interface ProcessLine {
  pid: number;
  group: number;
  parent: number;
  args: string;
}

/** Everything that runs on this machine; what has ended and only waits to be collected does not. */
export function listProcesses(): ProcessLine[] {
  const text = execFileSync("ps", ["-axww", "-o", "pid=,pgid=,ppid=,stat=,args="], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return text.split("\n").flatMap((line) => {
    const [, pid, group, parent, stat, args] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (stat === undefined || stat.startsWith("Z")) return [];
    return [{ pid: Number(pid), group: Number(group), parent: Number(parent), args: args ?? "" }];
  });
}

export interface LivingContainer {
  jobId: string;
  kind: "serve" | "train" | "eval";
  /** The shell that leads the container's process group. */
  pid: number;
}

/** What the records of a state folder say runs. */
export function livingContainers(home: string): LivingContainer[] {
  const folder = join(home, "containers", "containers");
  return readdirSync(folder).flatMap((name) => {
    if (!name.endsWith(".json")) return [];
    const record = JSON.parse(readFileSync(join(folder, name), "utf8")) as LivingContainer & {
      state: string;
    };
    return record.state === "running" ? [record] : [];
  });
}

/** The program of a container, below the shell that leads its group. */
export function programOf(container: LivingContainer): number | undefined {
  return listProcesses().find(({ parent }) => parent === container.pid)?.pid;
}

/** Kills without a chance to say anything; one that is gone already is fine. A negative pid is a group. */
export function killHard(pid: number): boolean {
  return send(pid, "SIGKILL");
}

export function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

export async function until<T>(what: string, look: () => T | undefined, timeoutMs = 30_000): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`${what} did not come about in ${timeoutMs} ms.`);
    await delay(20);
  }
}
