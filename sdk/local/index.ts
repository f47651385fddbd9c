/**
 * The daemon of this machine, for scripts and tests that start and stop it themselves. Everything else finds
 * or starts it without being told.
 *
 * @module
 */
import { ensureDaemon } from "./connect.ts";
import { findDaemon } from "./find-daemon.ts";
import { spotterHome } from "./home.ts";
import { stopDaemon } from "./stop-daemon.ts";

export interface LocalDaemonParams {
  /** State folder. Default: SPOTTER_HOME, else `~/.spotter`. */
  home?: string;
}

export interface StartLocalDaemonParams extends LocalDaemonParams {
  /** 0 picks a free one. Default: SPOTTER_PORT, else the daemon's own. */
  port?: number;
  /** Ends after this long without work. Default: never. */
  idleExitMs?: number;
}

export interface LocalDaemon {
  url: string;
  key: string;
  pid: number;
  version: string;
}

/**
 * The daemon that owns the state folder; started if there is none.
 *
 * @throws SpotterError `port_busy`, `state_locked`, `state_unreadable`, `version_mismatch`
 * @example
 * const { url, key } = await startLocalDaemon({ home: "/tmp/gym", port: 0 });
 * const client = new Client({ url, key });
 */
export async function startLocalDaemon(params: StartLocalDaemonParams = {}): Promise<LocalDaemon> {
  const { url, adminKey, pid, runningVersion } = await ensureDaemon({ ...params });
  return { url, key: adminKey, pid, version: runningVersion };
}

/** Ends the daemon and everything it runs, and resolves when it is gone. False: there was none. */
export async function stopLocalDaemon(params: LocalDaemonParams = {}): Promise<boolean> {
  const home = params.home ?? spotterHome();
  const daemon = await findDaemon(home);
  if (daemon) await stopDaemon(daemon);
  return daemon !== undefined;
}
