import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const PAGE_BYTES = 4096;
const EVERY_MS = 20;

/** Calls back once when the resident memory of a process passes a limit. Returns the way to stop watching. */
export function watchMemory(pid: number, limitMiB: number, exceeded: () => void): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    const residentMiB = await residentMemoryMiB(pid);
    if (stopped) return;
    if (residentMiB > limitMiB) return exceeded();
    timer = setTimeout(() => void look(), EVERY_MS).unref();
  };
  void look();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** 0 where it cannot be told: the process is gone. */
export async function residentMemoryMiB(pid: number): Promise<number> {
  try {
    if (process.platform === "linux") {
      const [, pages] = (await readFile(`/proc/${pid}/statm`, "utf8")).split(" ");
      return (Number(pages) * PAGE_BYTES) / 1024 / 1024;
    }
    return Number((await run("ps", ["-o", "rss=", "-p", String(pid)])).stdout) / 1024;
  } catch {
    return 0;
  }
}
