import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { platform } from "node:os";
import { promisify } from "node:util";
import { errorCode } from "./disk-error.ts";

const run = promisify(execFile);

/**
 * When a living process began, as an opaque text; undefined if there is none. Together with the pid it
 * names one process for good: pids are used again, also after a restart of the machine.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  return platform() === "linux" ? linuxStart(pid) : await psStart(pid);
}

/** Whether the machine is certain not to have been restarted since a process began. */
export function isOfThisBoot(start: string): boolean {
  return platform() === "linux" && start.startsWith(`${bootId()}/`);
}

/** The pid of the living process that was started with `argument` as one of its arguments. */
export async function findProcess(argument: string): Promise<number | undefined> {
  return platform() === "linux" ? findInProc(argument) : await findWithPs(argument);
}

/** Signals a whole process group; one that is gone is fine. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    // EPERM: macOS says so of a group in which only zombies are left; all of ours run as this user.
    if (errorCode(error) !== "ESRCH" && errorCode(error) !== "EPERM") throw error;
  }
}

function linuxStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The second field, the name in brackets, may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie has ended; nobody may ever collect it where process 1 does not.
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return `${bootId()}/${fields[19]}`;
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

function findInProc(argument: string): number | undefined {
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(argument)) return Number(name);
    } catch {
      // It ended since the folder was listed, or belongs to someone else: not ours either way.
    }
  }
  return undefined;
}

async function findWithPs(argument: string): Promise<number | undefined> {
  // -ww: not cut at the width of a terminal.
  const { stdout } = await run("ps", ["-axww", "-o", "pid=,args="], { maxBuffer: 64 * 1024 * 1024 });
  const line = stdout.split("\n").find((candidate) => `${candidate} `.includes(` ${argument} `));
  return line === undefined ? undefined : Number.parseInt(line, 10);
}

async function psStart(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run("ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
    const line = stdout.trim();
    return line === "" || line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "");
  } catch {
    return undefined;
  }
}
