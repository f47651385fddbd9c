import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  health as healthSchema,
  daemonFile,
  status as statusSchema,
  type DaemonFile,
  type Status,
} from "../schema/status.ts";
import { isAlive } from "./is-alive.ts";
import { unreadableState } from "./unusable-state.ts";

export interface Daemon extends DaemonFile {
  /** What it says of itself; the file may be older than a restart. */
  runningVersion: string;
}

const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"]);

/**
 * The daemon that owns a state folder, if it answers.
 *
 * @throws SpotterError `state_unreadable` if its file cannot be read.
 */
export async function findDaemon(home: string): Promise<Daemon | undefined> {
  const file = await readDaemonFile(home);
  // The file of a daemon that was killed may name a port where the next one listens already, with a new key.
  if (!file || !isAlive(file.pid)) return undefined;
  const health = await answer(`${file.url}/health`, {});
  const parsed = healthSchema.safeParse(health);
  // Another program may have taken the port since: only ours says its name.
  if (!parsed.success || parsed.data.name !== "spotter") return undefined;
  return { ...file, runningVersion: parsed.data.version };
}

/** What runs in it; undefined if it does not answer or does not know our key. */
export async function daemonStatus(daemon: DaemonFile): Promise<Status | undefined> {
  const body = await answer(`${daemon.url}/status`, { authorization: `Bearer ${daemon.adminKey}` });
  const parsed = statusSchema.safeParse(body);
  return parsed.success ? parsed.data : undefined;
}

async function readDaemonFile(home: string): Promise<DaemonFile | undefined> {
  const path = join(home, "daemon.json");
  try {
    const parsed = daemonFile.safeParse(JSON.parse(await readFile(path, "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    const isAbsent = ABSENT.has((error as { code?: string }).code ?? "");
    if (isAbsent || error instanceof SyntaxError) return undefined;
    throw unreadableState(home, path, error);
  }
}

async function answer(url: string, headers: Record<string, string>): Promise<unknown> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(2_000) });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
