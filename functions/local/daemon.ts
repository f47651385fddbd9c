import type { Server } from "node:http";
import type { EngineImages } from "../../sdk/schema/engine-images.ts";
import type { DaemonFile } from "../../sdk/schema/status.ts";
import { createControlPlane, type ControlPlane } from "../app.ts";
import { newKey } from "../keys/key-ring.ts";
import type { Tracing } from "../observability/tracing.ts";
import { readDaemonFile, removeDaemonFile, writeDaemonFile } from "./daemon-file.ts";
import { closeHome } from "./close-home.ts";
import { diskError, isDiskError } from "./disk-error.ts";
import { createHttpServer } from "../http/http-server.ts";
import { listen } from "./listen.ts";
import { openLocalDeps, type LocalDeps } from "./local-deps.ts";
import { lockState, type StateLock } from "./state-lock.ts";
import { liveCounts } from "../status/live-counts.ts";

const IDLE_CHECKS = 10;
const CLOSE_SERVER_MS = 500;

export interface DaemonOptions {
  home: string;
  /** This port or none; 0: any. Default: see {@link listen}. */
  port?: number | undefined;
  /** Ends after this long without work or requests. Default: never. */
  idleExitMs?: number | undefined;
  /** See {@link openLocalDeps}. */
  images?: EngineImages | "none" | undefined;
}

interface Daemon {
  lock: StateLock;
  deps: LocalDeps;
  plane: ControlPlane;
  server: Server;
  tracing: Tracing | undefined;
}

/** Runs the daemon of a state folder until it is told to end, and leaves nothing behind. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const lock = await lockState(options.home);
  closeHome(options.home);
  const lastPort = portOf(readDaemonFile(options.home));
  let port = 0;
  const publicUrl = () => `http://127.0.0.1:${port}`;
  const { home, images } = options;
  const deps = await openLocalDeps({ home, publicUrl, environment: process.env, images });
  const { key, hash } = newKey(deps.ids.secret(24));
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const plane = createControlPlane(deps, { rootKeyHash: hash, shutdown: () => end() });
  const server = createHttpServer(plane);
  const tracing = await tracingFor(process.env, deps.config.version);
  if (tracing !== undefined) plane.control.observer.add(tracing);
  const daemon: Daemon = { lock, deps, plane, server, tracing };
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => end());

  port = await listen(server, { port: options.port, lastPort });
  const startedAtMs = plane.control.startedAtMs;
  const { version } = deps.config;
  writeDaemonFile(options.home, {
    url: publicUrl(),
    pid: process.pid,
    startedAtMs,
    version,
    adminKey: key,
    ...(options.idleExitMs !== undefined && { idleExitMs: options.idleExitMs }),
    ...(deps.images && { images: deps.images }),
  });
  process.stdout.write(`spotter ${version} listens on ${publicUrl()}, state in ${options.home}\n`);
  plane.reconciler.wake();
  await plane.autoscaler.start();
  // What the daemon before this one was about to tell.
  plane.webhooks.wake();
  plane.trackers.wake();
  const stopIdleCheck =
    options.idleExitMs === undefined ? () => {} : endWhenIdle(plane, options.idleExitMs, end);

  await ended;
  stopIdleCheck();
  await shutDown(daemon, options.home).catch((error: unknown) => {
    throw isDiskError(error) ? diskError(error, options.home) : error;
  });
}

/** OpenTelemetry's own variables say whether and where traces go; its packages are loaded only then. */
async function tracingFor(environment: NodeJS.ProcessEnv, version: string): Promise<Tracing | undefined> {
  const endpoint =
    environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || environment["OTEL_EXPORTER_OTLP_ENDPOINT"];
  if (!endpoint || environment["OTEL_SDK_DISABLED"] === "true") return undefined;
  const { createTracing } = await import("../observability/tracing.ts");
  return createTracing({ version });
}

/** Containers end while the server still answers: what they save on the way out must arrive. */
async function shutDown({ lock, deps, plane, server, tracing }: Daemon, home: string): Promise<void> {
  removeDaemonFile(home);
  await plane.autoscaler.close();
  await plane.reconciler.close();
  await deps.containers.close();
  const closed = new Promise((resolve) => server.close(resolve));
  setTimeout(() => server.closeAllConnections(), CLOSE_SERVER_MS).unref();
  server.closeIdleConnections();
  await closed;
  await plane.close();
  await tracing?.close();
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

function portOf(file: DaemonFile | undefined): number | undefined {
  return file && (Number(URL.parse(file.url)?.port) || undefined);
}
