import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SpotterError, errorBody } from "../schema/errors.ts";
import { sleep } from "../retry.ts";
import { findDaemon, type Daemon } from "./find-daemon.ts";
import { daemonProgram } from "./home.ts";
import { nodeProgram } from "./node-program.ts";

export interface StartDaemonParams {
  home: string;
  /** 0 picks a free one. Default: SPOTTER_PORT, else the daemon's own. */
  port?: number | undefined;
  /** Ends after this long without work; undefined: never. */
  idleExitMs?: number | undefined;
  /** Default: the daemon of this package. */
  program?: string;
  /** Default 10,000. */
  timeoutMs?: number;
}

const POLL_MS = 15;
const LOG_LINES = 20;

/** Starts the daemon as a process of its own and resolves when it answers. */
export async function startDaemon(params: StartDaemonParams): Promise<Daemon> {
  const { home, timeoutMs = 10_000 } = params;
  const log = join(home, "daemon-start.log");
  const child = spawnDaemon(params, log);
  let exitCode: number | null | undefined;
  child.once("exit", (code) => (exitCode = code));
  let spawnError: Error | undefined;
  child.once("error", (error) => (spawnError = error));
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const daemon = await findDaemon(home);
    if (daemon) return daemon;
    if (spawnError) throw notStarted(`it could not be started: ${spawnError.message}`, log);
    if (exitCode !== undefined) throw codedError(log) ?? notStarted(`it ended with code ${exitCode}`, log);
    await sleep(POLL_MS);
  }
  // Half-started, it would hold the state folder while nobody can talk to it.
  child.kill("SIGTERM");
  throw notStarted(`it did not answer within ${timeoutMs} ms`, log);
}

function spawnDaemon(params: StartDaemonParams, log: string): ChildProcess {
  const port = params.port ?? process.env.SPOTTER_PORT;
  mkdirSync(params.home, { recursive: true, mode: 0o700 });
  const output = openSync(log, "w", 0o600);
  try {
    const child = spawn(
      nodeProgram(),
      [
        "--no-warnings",
        params.program ?? daemonProgram(),
        ...(port === undefined || port === "" ? [] : ["--port", String(port)]),
        ...(params.idleExitMs === undefined ? [] : ["--idle-exit-ms", String(params.idleExitMs)]),
      ],
      {
        // Ctrl-C in the script's terminal must not reach it: the work goes on.
        detached: true,
        cwd: params.home,
        stdio: ["ignore", output, output],
        env: { ...process.env, SPOTTER_HOME: params.home },
      },
    );
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** A daemon that cannot start says why as an error body on a line of its own, last. */
function codedError(log: string): SpotterError | undefined {
  for (const line of tailOf(log).reverse()) {
    try {
      const parsed = errorBody.safeParse(JSON.parse(line));
      if (parsed.success) return SpotterError.fromBody(parsed.data, 500);
    } catch {
      // Not this line.
    }
  }
  return undefined;
}

function notStarted(why: string, log: string): SpotterError {
  const tail = tailOf(log).map((line) => `\n  | ${line}`);
  return new SpotterError("daemon_unreachable", `The daemon did not start: ${why}.${tail.join("")}`, {
    where: log,
    hint: "`spotter up --foreground` shows what it does.",
    retryable: true,
  });
}

function tailOf(log: string): string[] {
  try {
    return readFileSync(log, "utf8").trim().split("\n").slice(-LOG_LINES);
  } catch {
    return [];
  }
}
