import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { daemonFile, type DaemonFile } from "../../sdk/schema/status.ts";
import { atomicWrite } from "./atomic-write.ts";

/** How clients of this machine find the daemon; only its owner can read it. */
export function writeDaemonFile(home: string, file: DaemonFile): void {
  atomicWrite(pathOf(home), `${JSON.stringify(file)}\n`);
}

/** What the last daemon left; undefined after a clean end. */
export function readDaemonFile(home: string): DaemonFile | undefined {
  try {
    const parsed = daemonFile.safeParse(JSON.parse(readFileSync(pathOf(home), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file if it is still the one of this process. */
export function removeDaemonFile(home: string): void {
  if (readDaemonFile(home)?.pid === process.pid) rmSync(pathOf(home), { force: true });
}

function pathOf(home: string): string {
  return join(home, "daemon.json");
}
