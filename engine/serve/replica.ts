import { once } from "node:events";
import type { Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { createAdaptorServer } from "@hono/node-server";
import { ulid } from "ulid";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ServeJob } from "../../sdk/schema/job.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerContext } from "../agent/container.ts";
import { fetchedModelFolder } from "../model-files.ts";
import type { EngineApi } from "../onnx/engine-api.ts";
import { startEngine } from "../onnx/engine-client.ts";
import { loadTextModel, type TextModel } from "../onnx/text/text-model.ts";
import type { AdapterEngines } from "./adapter-engines.ts";
import { replicaAdapters } from "./adapters.ts";
import { createServeApp } from "./app.ts";

/** Sequences decoded side by side; more gains nothing on a few cores. */
const SLOTS = 32;
/** Time for answers under way to end before their connections are cut. */
const DRAIN_MS = 20_000;
const SWEEP_EVERY_MS = 20;

/**
 * Serves a model until it is asked to stop. The worker is used for the engine, and ended with it.
 *
 * @param host Address to listen at, and to tell the gateway. By default only this machine gets in.
 */
export async function serveReplica(
  context: ContainerContext,
  worker: Worker,
  host = "127.0.0.1",
): Promise<"cancelled"> {
  const { client, job, log, workDir } = context;
  if (job.kind !== "serve") {
    throw new SpotterError("invalid_input", `This container serves; the job is of kind ${job.kind}.`);
  }
  const folders = await materialise(job, client, workDir);
  const setup = { ...folders, threads: job.threads, slots: SLOTS };
  const [engine, text] = await Promise.all([startEngine(setup, worker), loadTextModel(folders.modelDir)]);
  const failed = new Promise<never>((_, reject) => {
    worker.once("exit", () => reject(new SpotterError("engine_failed", "The engine's worker ended.")));
  });
  failed.catch(() => undefined);
  // Adapters lie on the weights they were trained on, and nothing else.
  const adapters =
    job.checkpoint === undefined ? await replicaAdapters(context, job.model, setup) : undefined;
  try {
    await prove(engine, text);
    const server = await listen(createApp(engine, text, context, adapters), host);
    try {
      client.report({ type: "ready", address: addressOf(server) });
      log.info(`serving ${job.endpoint} at ${addressOf(server)}`);
      await Promise.race([aborted(client.cancelled), aborted(client.ended), failed]);
    } finally {
      log.info("draining");
      await drain(server, client.ended);
    }
    return "cancelled";
  } finally {
    await Promise.all([engine.close(), adapters?.close()]);
  }
}

/** Everything the engine reads, on this disk. */
async function materialise(
  job: ServeJob,
  client: Pick<JobClient, "download">,
  workDir: string,
): Promise<{ modelDir: string; adapterDir?: string }> {
  const { checkpoint } = job;
  const base = () =>
    fetchedModelFolder(checkpoint?.model ?? job.model, job.modelFiles, client, join(workDir, "model"));
  if (checkpoint === undefined) return { modelDir: await base() };
  const dir = join(workDir, "checkpoint");
  const wanted = checkpoint.files.filter(({ path }) => path.startsWith("model/"));
  await Promise.all(wanted.map((file) => client.download(file, join(dir, file.path))));
  const modelDir = join(dir, "model");
  if (checkpoint.kind === "full") return { modelDir };
  return { modelDir: await base(), adapterDir: modelDir };
}

function createApp(
  engine: EngineApi,
  text: TextModel,
  { job, log }: ContainerContext,
  adapters: AdapterEngines | undefined,
): ReturnType<typeof createServeApp> {
  return createServeApp(engine, {
    text,
    ...(adapters && { openAdapter: (id, signal) => adapters.open(id, signal) }),
    models: job.kind === "serve" ? [job.endpoint] : [],
    ...(job.kind === "serve" && job.accessKey !== undefined && { accessKey: job.accessKey }),
    now: () => Date.now(),
    newId: () => ulid(),
    newSeed: () => Math.floor(Math.random() * 2 ** 32),
    onError: (error, requestId) => log.error(`${requestId}: ${SpotterError.from(error).message}`),
  });
}

/** One token, so that ready means it can answer; the first run is the slow one. */
async function prove(engine: EngineApi, { stopIds }: TextModel): Promise<void> {
  const promptIds = [stopIds[0] ?? 0];
  await engine.generate({
    promptIds,
    maxNewTokens: 1,
    temperature: 0,
    topP: 1,
    topK: 0,
    seed: 0,
    stopIds: [],
  });
}

async function listen(app: ReturnType<typeof createServeApp>, host: string): Promise<Server> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, host);
  await once(server, "listening");
  const response = await fetch(`http://${addressOf(server)}/health`);
  if (!response.ok)
    throw new SpotterError("engine_failed", `The server answered its probe with ${response.status}.`);
  await response.body?.cancel();
  return server;
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new SpotterError("internal", "The server has no port.");
  return `${address.address}:${address.port}`;
}

/** Takes no new requests, lets those under way end, and cuts what is left after a while. */
async function drain(server: Server, hurry: AbortSignal): Promise<void> {
  const closed = once(server, "close");
  server.close();
  // Connections that were busy stay open for the next request, which will not come.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_EVERY_MS);
  const timer = new AbortController();
  const late = delay(DRAIN_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([closed, late, aborted(hurry)]);
  clearInterval(sweep);
  timer.abort();
  server.closeAllConnections();
  await closed;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
