import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineImages } from "../schema/engine-images.ts";
import { SpotterError, errorBody } from "../schema/errors.ts";
import { sleep } from "../retry.ts";
import { findDaemon, type Daemon } from "./find-daemon.ts";
import { daemonProgram } from "./home.ts";
import { DAEMON_FLAGS, nodeProgram } from "./node-program.ts";
import { unusableState } from "./unusable-state.ts";

export interface StartDaemonParams {
  home: string;
  /** 0 picks a free one. Default: SPOTTER_PORT, else the daemon's own. */
  port?: number | undefined;
  /** Ends after this long without work; undefined: never. */
  idleExitMs?: number | undefined;
  /** Engines to run in Docker; "none" ends that. Default: as the daemon before it had it. */
  images?: EngineImages | "none" | undefined;
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
  const output = openLog(params.home, log);
  try {
    const child = spawn(
      nodeProgram(),
      [
        ...DAEMON_FLAGS,
        params.program ?? daemonProgram(),
        ...daemonFlags({ ...params, port: params.port ?? portOf(process.env.SPOTTER_PORT) }),
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

/** What functions/node.ts takes. */
export function daemonFlags({
  port,
  idleExitMs,
  images,
}: Pick<StartDaemonParams, "port" | "idleExitMs" | "images">): string[] {
  return [
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(idleExitMs === undefined ? [] : ["--idle-exit-ms", String(idleExitMs)]),
    ...(images === undefined ? [] : images === "none" ? ["--no-gpu"] : imageFlags(images)),
  ];
}

function imageFlags({ slime, vllm }: EngineImages): string[] {
  return [
    "--gpu",
    ...(slime === undefined ? [] : ["--slime-image", slime]),
    ...(vllm === undefined ? [] : ["--vllm-image", vllm]),
  ];
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new SpotterError("invalid_input", `SPOTTER_PORT is ${JSON.stringify(text)}, which is no port.`, {
    where: "SPOTTER_PORT",
    hint: "Set it to a whole number from 0 to 65535; 0 picks a free one. Or unset it.",
  });
}

function openLog(home: string, log: string): number {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return openSync(log, "w", 0o600);
  } catch (error) {
    throw unusableState((error as { code?: string }).code === "EISDIR" ? log : home, error);
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
