import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { daemonFile, type DaemonFile } from "../../sdk/schema/status.ts";
import { atomicWrite } from "./atomic-write.ts";
import { diskError, errorCode } from "./disk-error.ts";

/** How clients of this machine find the daemon; only its owner can read it. */
export function writeDaemonFile(home: string, file: DaemonFile): void {
  atomicWrite(pathOf(home), `${JSON.stringify(file)}\n`);
}

/**
 * What the last daemon left; undefined after a clean end, or if it is damaged.
 *
 * @throws SpotterError `state_unreadable` if there is something that cannot be read.
 */
export function readDaemonFile(home: string): DaemonFile | undefined {
  const path = pathOf(home);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw diskError(error, path);
  }
  try {
    return daemonFile.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Removes the file if it is still the one of this process. */
export function removeDaemonFile(home: string): void {
  try {
    if (readDaemonFile(home)?.pid === process.pid) rmSync(pathOf(home), { force: true });
  } catch {
    // Somebody put another thing there meanwhile; it must not keep this process from ending.
  }
}

function pathOf(home: string): string {
  return join(home, "daemon.json");
}
