import { SpotterError } from "../schema/errors.ts";
import { sleep } from "../retry.ts";
import { daemonStatus, findDaemon, type Daemon } from "./find-daemon.ts";
import { packageVersion, spotterHome } from "./home.ts";
import { startDaemon, type StartDaemonParams } from "./start-daemon.ts";
import { stopDaemon } from "./stop-daemon.ts";
import { clearStopped, wasStopped } from "./stop-mark.ts";
import { takeStartLock } from "./start-lock.ts";

export interface ConnectLocalParams extends Partial<StartDaemonParams> {
  /** Default: this package's. */
  version?: string;
  /** How long others may take to start or to end theirs. Default 15,000. */
  waitMs?: number;
  /** The daemon this process used before: if it was stopped on purpose, no other is started. */
  previousPid?: number | undefined;
}

export interface LocalConnection {
  url: string;
  key: string;
  pid: number;
}

/** What the SDK starts ends ten minutes after the last run or request. */
const IDLE_EXIT_MS = 600_000;
/** Longer than one start, so that of two scripts the second outwaits the first. */
const WAIT_MS = 15_000;
/** Pauses before looking again: while another process starts one, and while another daemon owns the folder. */
const STARTING_MS = 30;
const OWNED_MS = 200;

/** The daemon of this machine: found, or started if there is none. */
export async function connectLocal(params: ConnectLocalParams = {}): Promise<LocalConnection> {
  const daemon = await ensureDaemon({ idleExitMs: IDLE_EXIT_MS, ...params });
  return { url: daemon.url, key: daemon.adminKey, pid: daemon.pid };
}

/** The same, with all that is known of it. */
export async function ensureDaemon(params: ConnectLocalParams): Promise<Daemon> {
  const home = params.home ?? spotterHome();
  const version = params.version ?? packageVersion();
  const deadline = performance.now() + (params.waitMs ?? WAIT_MS);
  for (;;) {
    const daemon = await findDaemon(home);
    if (daemon?.runningVersion === version) return daemon;
    const lock = await takeStartLock(home);
    if (lock) {
      try {
        return await startUnderLock({ ...params, home }, version);
      } catch (error) {
        // The folder's owner is slow to answer or about to end: look again before giving up.
        const isOwned = SpotterError.is(error) && error.code === "state_locked";
        if (!isOwned || performance.now() > deadline) throw error;
      } finally {
        await lock.release();
      }
    }
    if (performance.now() > deadline) throw startedByNobody(home);
    await sleep(lock ? OWNED_MS : STARTING_MS);
  }
}

async function startUnderLock(
  params: ConnectLocalParams & { home: string },
  version: string,
): Promise<Daemon> {
  // It may have come up between our look and our lock.
  const daemon = await findDaemon(params.home);
  if (daemon?.runningVersion === version) return daemon;
  if (daemon) {
    const status = await daemonStatus(daemon);
    if (!status || status.activeRuns > 0 || status.endpoints > 0) throw otherVersion(daemon, version);
    await stopDaemon(daemon);
  }
  const { previousPid } = params;
  if (previousPid !== undefined && (await wasStopped(params.home, previousPid))) throw stopped(params.home);
  await clearStopped(params.home);
  return startDaemon(params);
}

function otherVersion(daemon: Daemon, version: string): SpotterError {
  return new SpotterError(
    "version_mismatch",
    `This is version ${version}, but the daemon at ${daemon.url} is ${daemon.runningVersion} and has work to do.`,
    {
      hint: "Wait for its runs and stop its endpoints, then run `spotter down`; or use the same version here.",
    },
  );
}

function stopped(home: string): SpotterError {
  return new SpotterError("daemon_unreachable", "The daemon was stopped by `spotter down`.", {
    where: home,
    hint: "The run goes on from its last checkpoint after `spotter up`.",
    retryable: false,
  });
}

function startedByNobody(home: string): SpotterError {
  return new SpotterError(
    "daemon_unreachable",
    `Another process is starting the daemon for ${home}, but none came up.`,
    {
      where: home,
      hint: "Try again; `spotter up --foreground` shows what the daemon does.",
      retryable: true,
    },
  );
}
