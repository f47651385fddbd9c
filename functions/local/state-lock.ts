import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "../../sdk/schema/files/make-folder.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { atomicWrite } from "./atomic-write.ts";
import { diskError } from "./disk-error.ts";
import { isBusy, storeError } from "./sqlite-store/errors.ts";

export interface StateLock {
  release(): void;
}

const HELD = new Set<DatabaseSync>();

/**
 * Makes this process the only owner of a state folder; `state_locked` names the other one. The lock itself
 * is SQLite's, held by the operating system: it ends with the process however it dies, so there is no
 * stale lock to judge and no race in taking one over. The text file beside it only says who holds it.
 */
export async function lockState(home: string): Promise<StateLock> {
  await makeFolder(home, 0o700).catch((error: unknown) => {
    throw diskError(error, home);
  });
  const owner = join(home, "daemon.owner");
  const path = join(home, "daemon.lock");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
  } catch (error) {
    database?.close();
    throw isBusy(error) ? locked(home, owner) : storeError(error, path);
  }
  const held = database;
  // A collected handle would close itself and give the lock away.
  HELD.add(held);
  atomicWrite(owner, `${process.pid}\n`);
  return {
    release() {
      if (!held.isOpen) return;
      rmSync(owner, { force: true });
      held.close();
      HELD.delete(held);
    },
  };
}

function locked(home: string, owner: string): SpotterError {
  const pid = readPid(owner);
  const who = pid === undefined ? "another daemon" : `the daemon with process id ${pid}`;
  return new SpotterError("state_locked", `${home} is in use by ${who}.`, {
    where: home,
    hint: `Stop it with \`spotter down\`${pid === undefined ? "" : ` (or \`kill ${pid}\`)`}, or point SPOTTER_HOME at another folder.`,
  });
}

function readPid(path: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}
