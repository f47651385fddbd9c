import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../schema/files/make-folder.ts";

/**
 * Notes that the daemon of this process id is stopped on purpose. Written before it is asked to end: a script
 * that waits for one of its runs must not start the next one.
 */
export async function markStopped(home: string, pid: number): Promise<void> {
  await makeFolder(home, 0o700);
  await writeFile(pathOf(home), `${pid}\n`, { mode: 0o600 });
}

/** Whether the daemon of this process id was stopped on purpose, and none was started since. */
export async function wasStopped(home: string, pid: number): Promise<boolean> {
  const text = await readFile(pathOf(home), "utf8").catch(() => "");
  return Number.parseInt(text, 10) === pid;
}

/** Somebody wants a daemon again. */
export function clearStopped(home: string): Promise<void> {
  return rm(pathOf(home), { force: true });
}

function pathOf(home: string): string {
  return join(home, "stopped");
}
