import { DEFAULT_LIFETIME_MS } from "../../cost/lifetime.ts";
import type { Deps, Shared } from "../../deps.ts";
import { createJsonLog } from "../../system/json-log.ts";
import { awsPricing } from "../pricing.ts";
import { systemClock } from "../../system/system-clock.ts";
import { systemIds } from "../../system/system-ids.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Containers } from "../../ports/containers.ts";
import type { Isolates } from "../../ports/isolates.ts";
import type { Store } from "../../ports/store.ts";
import { absentPort } from "./absent-port.ts";
import { readSettings, type Adapter, type AdapterContext, type Settings } from "./adapter.ts";
import type { LearningSecrets } from "./secrets.ts";
import { createWake } from "./wake.ts";

/** The ports that a function uses. What it does not name is not in its bundle. */
export interface AwsAdapters {
  store: Adapter<Store>;
  blobs?: Adapter<Blobs>;
  secrets?: Adapter<LearningSecrets>;
  containers?: Adapter<Containers>;
  isolates?: Adapter<Isolates>;
}

export interface AwsDeps extends Deps {
  shared: Shared;
  settings: Settings;
  /** Resolves when text of containers and user code can be kept: what is secret in it is known. */
  learnSecrets(): Promise<void>;
  /** Resolves when everybody that `shared.wake` named is woken. */
  flushWakes(): Promise<void>;
}

export interface OpenOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** Of a function that stands still between its calls, see {@link Shared.readsAtUse}. */
  readsAtUse?: boolean;
  /** Takes lines of the log. Default: standard output, which AWS keeps. */
  write?: (line: string) => void;
}

const HEARTBEAT_EVERY_MS = 10_000;
/** A minute without a word, and time for what reconciles to be called. */
const LEASE_MS = 90_000;
const MAX_ATTEMPTS = 3;
/** What is promised of a revoked key. */
const MAX_AGE_MS = 2_000;

/**
 * The ports of a process on AWS.
 *
 * @throws SpotterError `aws_config_invalid`: names every variable that is missing or wrong.
 */
export function openPorts(adapters: AwsAdapters, options: OpenOptions): AwsDeps {
  const { store, blobs, secrets: secretsAdapter, containers, isolates } = adapters;
  const named = [store, blobs, secretsAdapter, containers, isolates].filter((each) => each !== undefined);
  const settings = readSettings(
    options.environment,
    named.map(({ variables }) => variables),
  );
  const clock = systemClock();
  // Nothing secret is known before the adapter that knows it has been opened.
  const hiding = { redact: (text: string) => text };
  const redact = (text: string) => hiding.redact(text);
  const log = createJsonLog({
    clock,
    write: options.write ?? ((line) => void process.stdout.write(line)),
    level: settings.SPOTTER_LOG_LEVEL,
    redact,
  });
  const context: AdapterContext = { settings, clock, log, redact };
  const secrets =
    secretsAdapter?.open(settings, context) ??
    absentPort<LearningSecrets>("secrets", { redact: (text) => text });
  hiding.redact = (text) => secrets.redact(text);
  const wake = createWake(context);
  return {
    settings,
    store: store.open(settings, context),
    blobs: blobs?.open(settings, context) ?? absentPort("blobs"),
    secrets,
    containers:
      containers?.open(settings, context) ??
      absentPort<Containers>("containers", { onChange: () => () => {} }),
    isolates: isolates?.open(settings, context) ?? absentPort<Isolates>("isolates", { running: 0 }),
    clock,
    ids: systemIds(),
    log,
    shared: { maxAgeMs: MAX_AGE_MS, readsAtUse: options.readsAtUse, wake: (what) => wake.wake(what) },
    learnSecrets: () => secrets.learn(),
    flushWakes: () => wake.flush(),
    config: {
      version: settings.SPOTTER_VERSION,
      publicUrl: () => settings.SPOTTER_URL.replace(/\/+$/, ""),
      home: `aws:${settings.SPOTTER_STACK}`,
      threads: settings.SPOTTER_CONTAINER_THREADS,
      heartbeatEveryMs: HEARTBEAT_EVERY_MS,
      leaseMs: LEASE_MS,
      maxAttempts: MAX_ATTEMPTS,
      pricing: awsPricing(options.environment),
      maxLifetimeMs: DEFAULT_LIFETIME_MS,
      notes: named.flatMap((each) => [...(each.notes?.(settings) ?? [])]),
      ...containers?.config?.(settings),
    },
  };
}
