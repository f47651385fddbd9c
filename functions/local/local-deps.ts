import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { EngineImages } from "../../sdk/schema/engine-images.ts";
import type { Deps } from "../deps.ts";
import type { Isolates } from "../ports/isolates.ts";
import { createEventFiles } from "./event-files.ts";
import { FileBlobs } from "./file-blobs.ts";
import { fileScratch } from "./file-scratch.ts";
import { FileSecrets } from "./file-secrets.ts";
import { createJsonLog } from "../system/json-log.ts";
import { memoryMiB, modelConfig, modelFault } from "./machine.ts";
import { openLogFile } from "./log-file.ts";
import { packageVersion } from "./package-version.ts";
import { localPricing } from "./pricing.ts";
import { DockerCli } from "./docker-containers/docker-cli.ts";
import { checkDocker } from "./docker-containers/preflight.ts";
import { dockerEngines } from "./docker-engines.ts";
import { foreignEngines } from "./foreign-engines.ts";
import { readGpuSettings, writeGpuSettings } from "./gpu-settings.ts";
import { openHomeContainers } from "./home-containers.ts";
import { isOnPath } from "./on-path.ts";
import type { Programs } from "./process-containers/program.ts";
import { createRedactor } from "../secrets/redactor.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { systemClock } from "../system/system-clock.ts";
import { containerEnvironment } from "./container-environment.ts";
import { systemIds } from "../system/system-ids.ts";

export interface LocalDepsOptions {
  home: string;
  publicUrl: () => string;
  /** Variables of this process; only the named few reach a container. */
  environment: NodeJS.ProcessEnv;
  /** Engines in Docker; "none" ends that. Default: as the daemon before this one had it. */
  images?: EngineImages | "none" | undefined;
}

export interface LocalDeps extends Deps {
  /** What runs in Docker. */
  images: EngineImages | undefined;
  /** Ends containers first, then everything they may still need. */
  close(): Promise<void>;
}

const HEARTBEAT_EVERY_MS = 2_000;
const LEASE_MS = 30_000;
const MAX_ATTEMPTS = 3;

/** All ports on one machine, below one state folder that the caller has locked. */
export async function openLocalDeps(options: LocalDepsOptions): Promise<LocalDeps> {
  const { home } = options;
  const docker = new DockerCli({ environment: options.environment });
  const images = await settleImages(options, docker);
  const clock = systemClock();
  const redactor = createRedactor();
  const logFile = openLogFile(join(home, "daemon.log"));
  const log = createJsonLog({ clock, write: (line) => logFile.write(line), redact: redactor.redact });
  const secrets = new FileSecrets(join(home, "secrets.json"), { redactor });
  await secrets.learn();
  const store = new SqliteStore(join(home, "state.db"));
  const engines = images ? dockerEngines(images, options.environment) : foreignEngines(options.environment);
  const containers = await openHomeContainers({
    home: join(home, "containers"),
    programs: programs(),
    agent: engines.agent,
    docker,
    images,
    clock,
    log,
    redact: redactor.redact,
    environment: containerEnvironment(options.environment, home),
  });
  const notes: string[] = [];
  const isolates = lazyIsolates(async () => {
    const { createWorkerdIsolates } = await import("./workerd-isolates/index.ts");
    const created = createWorkerdIsolates({
      workDir: join(home, "isolates"),
      onMessage: ({ sha256, level, text }) => log[logLevel(level)](text, { userCode: sha256 }),
    });
    notes.push(...created.notes);
    return created;
  });
  return {
    images,
    store,
    blobs: new FileBlobs(join(home, "blobs")),
    containers,
    isolates,
    secrets,
    scratch: fileScratch(home),
    eventFiles: createEventFiles(home),
    modelConfig,
    modelFault,
    clock,
    ids: systemIds(),
    log,
    config: {
      version: packageVersion(),
      publicUrl: options.publicUrl,
      home,
      threads: availableParallelism(),
      heartbeatEveryMs: HEARTBEAT_EVERY_MS,
      leaseMs: LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      servesCheckpoints: true,
      pricing: localPricing(options.environment, memoryMiB()),
      engines: () => engines.offered(),
      engineHint: (engine) => engines.remedy(engine),
      cannotGive: (env) => engines.cannotGive(env),
      hasPython: () => isOnPath("python3", options.environment["PATH"]),
      notes,
    },
    async close() {
      await containers.close();
      await isolates.close();
      await store.close();
      logFile.close();
    },
  };
}

/** Nothing is written down, or started, before Docker is known to do it. */
async function settleImages(
  { home, environment, images }: LocalDepsOptions,
  docker: DockerCli,
): Promise<EngineImages | undefined> {
  const wanted = images === undefined ? readGpuSettings(home) : images === "none" ? undefined : images;
  if (wanted !== undefined) await checkDocker(docker, environment);
  if (images !== undefined) writeGpuSettings(home, wanted);
  return wanted;
}

function programs(): Programs["programs"] {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = (name: string) => new URL(`../../engine/${name}.${extension}`, import.meta.url);
  return { serve: program("serve"), train: program("train"), eval: program("eval") };
}

/** Most starts of the daemon never run user code: the runtime is loaded when the first code comes. */
function lazyIsolates(create: () => Promise<Isolates>): Isolates {
  let created: Promise<Isolates> | undefined;
  let ready: Isolates | undefined;
  const get = async () => (ready ??= await (created ??= create()));
  return {
    load: async (bundle) => (await get()).load(bundle),
    close: async () => (await created)?.close(),
    get running() {
      return ready?.running ?? 0;
    },
  };
}

/** Levels of `console` that the log does not have count as "info". */
function logLevel(level: string): "debug" | "info" | "warn" | "error" {
  return level === "debug" || level === "warn" || level === "error" ? level : "info";
}
