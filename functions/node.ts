/**
 * The daemon of one machine: `node functions/node.ts [--port N] [--idle-exit-ms N]`. State lies in
 * `$SPOTTER_HOME` (default `~/.spotter`). Ends on SIGTERM, SIGINT and `POST /shutdown`, and stops its
 * containers then; after a crash the next daemon of the same folder takes them over.
 *
 * @module
 */
import type { Server } from "node:http";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createAdaptorServer } from "@hono/node-server";
import { SpotterError } from "../sdk/schema/errors.ts";
import { createControlPlane, type ControlPlane } from "./app.ts";
import { newKey } from "./keys/key-ring.ts";
import { readDaemonFile, removeDaemonFile, writeDaemonFile } from "./local/daemon-file.ts";
import { listen } from "./local/listen.ts";
import { openLocalDeps, type LocalDeps } from "./local/local-deps.ts";
import { lockState, type StateLock } from "./local/state-lock.ts";
import { liveCounts } from "./status/live-counts.ts";

const IDLE_CHECKS = 10;
const CLOSE_SERVER_MS = 500;

interface Options {
  home: string;
  port?: number;
  idleExitMs?: number;
}

interface Daemon {
  lock: StateLock;
  deps: LocalDeps;
  plane: ControlPlane;
  server: Server;
}

try {
  await main(readOptions());
} catch (thrown) {
  const error = SpotterError.from(thrown);
  // The last line: whoever started this reads the error from it.
  process.stderr.write(`${JSON.stringify(error.toBody())}\n`);
  process.exit(error.kind === "user" ? 2 : 1);
}

async function main(options: Options): Promise<void> {
  const lock = await lockState(options.home);
  let port = 0;
  const publicUrl = () => `http://127.0.0.1:${port}`;
  const deps = await openLocalDeps({ home: options.home, publicUrl, environment: process.env });
  const { key, hash } = newKey(deps.ids.secret(24));
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const plane = createControlPlane(deps, { rootKeyHash: hash, shutdown: () => end() });
  const server = createAdaptorServer({ fetch: plane.app.fetch }) as Server;
  const daemon: Daemon = { lock, deps, plane, server };
  // Node gives a request five minutes to arrive; a dataset may need longer.
  server.requestTimeout = 0;
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => end());

  port = await listen(server, { port: options.port, lastPort: lastPort(options.home) });
  const startedAtMs = plane.control.startedAtMs;
  const { version } = deps.config;
  writeDaemonFile(options.home, { url: publicUrl(), pid: process.pid, startedAtMs, version, adminKey: key });
  process.stdout.write(`spotter ${version} listens on ${publicUrl()}, state in ${options.home}\n`);
  plane.reconciler.wake();
  const stopIdleCheck =
    options.idleExitMs === undefined ? () => {} : endWhenIdle(plane, options.idleExitMs, end);

  await ended;
  stopIdleCheck();
  await shutDown(daemon, options.home);
  process.exit(0);
}

/** Containers end while the server still answers: what they save on the way out must arrive. */
async function shutDown({ lock, deps, plane, server }: Daemon, home: string): Promise<void> {
  removeDaemonFile(home);
  await plane.reconciler.close();
  await deps.containers.close();
  const closed = new Promise((resolve) => server.close(resolve));
  setTimeout(() => server.closeAllConnections(), CLOSE_SERVER_MS).unref();
  server.closeIdleConnections();
  await closed;
  await plane.close();
  await deps.close();
  lock.release();
}

/** Ends a daemon that nobody needs any more: no run, no endpoint, and no request for a while. */
function endWhenIdle(plane: ControlPlane, idleExitMs: number, end: () => void): () => void {
  const { control } = plane;
  const timer = setInterval(() => void check(), Math.max(100, idleExitMs / IDLE_CHECKS));
  async function check(): Promise<void> {
    try {
      if (control.clock.now() - control.activity.lastAtMs < idleExitMs) return;
      const { works, endpoints } = await liveCounts(control);
      if (works === 0 && endpoints === 0) end();
      else control.activity.lastAtMs = control.clock.now();
    } catch (error) {
      control.log.error("idle check failed", { error });
    }
  }
  return () => clearInterval(timer);
}

function lastPort(home: string): number | undefined {
  const url = readDaemonFile(home)?.url;
  return url === undefined ? undefined : Number(new URL(url).port) || undefined;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: { port: { type: "string" }, "idle-exit-ms": { type: "string" } },
  });
  const port = wholeNumber("--port", values.port, 65_535);
  const idleExitMs = wholeNumber("--idle-exit-ms", values["idle-exit-ms"], Number.MAX_SAFE_INTEGER);
  return {
    home: resolve(process.env["SPOTTER_HOME"] || join(homedir(), ".spotter")),
    ...(port !== undefined && { port }),
    ...(idleExitMs !== undefined && { idleExitMs }),
  };
}

function wholeNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new SpotterError("invalid_input", `${name} is "${text}", expected a whole number up to ${max}.`, {
    where: name,
  });
}
