import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { connect } from "node:net";

/** A server under test, or what it is measured with. */
export interface Started {
  child: ChildProcess;
  /** The first line it printed. */
  firstLine: Promise<string>;
  stop(): Promise<void>;
}

const START_MS = 30_000;
const STOP_MS = 3_000;

/** Starts a program and watches over it: it is ended with `stop`, or by force if it does not end. */
export function start(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Started {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${command} said nothing for ${START_MS} ms`)), START_MS);
    child.stdout.on("data", (chunk: Buffer) => {
      if (stdout.includes("\n")) return;
      stdout += chunk.toString();
      if (!stdout.includes("\n")) return;
      clearTimeout(timer);
      resolve(stdout.split("\n")[0] ?? "");
    });
    child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2_000)));
    void ended.then(() => {
      clearTimeout(timer);
      reject(new Error(`${command} ${args.join(" ")} ended: ${stderr}`));
    });
  });
  firstLine.catch(() => undefined);
  return {
    child,
    firstLine,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Resolves when somebody listens on the port. */
export async function listens(port: number): Promise<void> {
  const untilMs = performance.now() + START_MS;
  while (!(await canConnect(port))) {
    if (performance.now() > untilMs) throw new Error(`Nobody listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

const TICKS_PER_S = 100;

/** CPU seconds that a process and its children have used, from /proc; undefined where there is none. */
export function cpuSeconds(pid: number): number | undefined {
  if (!existsSync("/proc/self/stat")) return undefined;
  let ticks = 0;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = statOf(Number(entry));
    if (stat !== undefined && (stat.pid === pid || stat.parent === pid)) ticks += stat.ticks;
  }
  return ticks / TICKS_PER_S;
}

/** Resident memory of one process. */
export function rssMiB(pid: number): number | undefined {
  if (!existsSync("/proc/self/status")) return undefined;
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

function statOf(pid: number): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold anything; fields are counted from behind it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}
