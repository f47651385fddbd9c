import type { DatasetRow } from "./schema/dataset.ts";
import { SpotterError } from "./schema/errors.ts";
import { loadTasksResponse, type UserCodeRecord } from "./schema/user-code.ts";
import type { EnvironmentSetup } from "./schema/run-spec.ts";
import type { Client } from "./client.ts";
import type { EnvironmentParams } from "./environment-params.ts";
import { packUserCode, uploadUserCode } from "./upload.ts";

/** How long tasks may be loaded before it is said. */
const NOTED_AFTER_MS = 5_000;

/** Environments of a run, uploaded, with the tasks of each. */
export interface LoadedEnvironments {
  setups: EnvironmentSetup[];
  /** By environment, in the order given. */
  train: DatasetRow[][];
  held: DatasetRow[][];
}

/**
 * Sends the code of environments, and has their tasks loaded in an isolate of the server. What is to be evaluated
 * on becomes an environment of the run as well.
 *
 * @throws SpotterError `user_code_invalid`, `environment_missing`, and what `load` failed with.
 */
export async function loadEnvironments(
  client: Client,
  train: readonly EnvironmentParams[],
  held: readonly EnvironmentParams[],
  options: { secrets: string[]; signal: AbortSignal | undefined },
): Promise<LoadedEnvironments> {
  const load = (params: EnvironmentParams) => loadEnvironment(client, params, options);
  const [trained, evaluated] = await Promise.all([Promise.all(train.map(load)), Promise.all(held.map(load))]);
  // Tasks of the same name are judged by the same code; only what is drawn for training has a ratio.
  const names = new Set(trained.map(({ setup }) => setup.name));
  const more = evaluated.filter(({ setup }) => !names.has(setup.name));
  return {
    setups: [...trained, ...more].map(({ setup }) => setup),
    train: trained.map(({ tasks }) => tasks),
    held: evaluated.map(({ tasks }) => tasks),
  };
}

interface LoadedEnvironment {
  setup: EnvironmentSetup;
  tasks: DatasetRow[];
}

async function loadEnvironment(
  client: Client,
  params: EnvironmentParams,
  { secrets, signal }: { secrets: string[]; signal: AbortSignal | undefined },
): Promise<LoadedEnvironment> {
  const packed = await packUserCode(params.file);
  const record = await uploadUserCode(client, packed, signal);
  const exported = params.export ?? onlyEnvironment(record);
  const { name = exported, args = {}, ratio = 1, timeoutMs = 10_000, maxTurns, maxTasks = Infinity } = params;
  const path = `/user-code/${packed.ref.sha256}/environments/${encodeURIComponent(exported)}/rows`;
  const json = { args, secrets };
  const request = client.request(loadTasksResponse, "POST", path, { json, signal, timeoutMs: 120_000 });
  const { rows } = await notingDelay(request, name);
  if (rows.length === 0) process.emitWarning(`${name} has no tasks; it is left out.`, "SpotterWarning");
  return {
    setup: {
      name,
      code: { ...packed.ref, secrets },
      export: exported,
      ratio,
      timeoutMs,
      ...(maxTurns && { maxTurns }),
    },
    tasks: rows.slice(0, maxTasks).map((row) => ({ prompt: [], row, environment: name })),
  };
}

/** Code that downloads, or never ends, looks the same from outside: whoever waits is told what for. */
async function notingDelay<T>(loading: Promise<T>, name: string): Promise<T> {
  const timer = setTimeout(() => {
    const text = `Waiting for ${name} to load its tasks, which may take a minute.`;
    process.emitWarning(text, "SpotterWarning");
  }, NOTED_AFTER_MS);
  try {
    return await loading;
  } finally {
    clearTimeout(timer);
  }
}

function onlyEnvironment({ name, exports }: UserCodeRecord): string {
  const found = exports.filter(({ kind }) => kind === "environment").map((each) => each.name);
  if (found[0] !== undefined && found.length === 1) return found[0];
  const what = found.length === 0 ? "exports no environment" : `exports ${found.join(" and ")}`;
  throw new SpotterError("environment_missing", `${name} ${what}.`, {
    where: name,
    hint:
      found.length === 0
        ? "Wrap it: export const game = environment({ load, setup, step, rewards });"
        : `Say which with export; in a configuration, as ${name}#${found[0]}.`,
  });
}

/** Rows of several sources in turns, so that the first of each come early: launches try those. */
export async function* inTurns(
  sources: readonly (Iterable<DatasetRow> | AsyncIterable<DatasetRow>)[],
): AsyncIterable<DatasetRow> {
  let open = sources.map(iteratorOf);
  while (open.length > 0) {
    const results = await Promise.all(open.map((each) => each.next()));
    for (const result of results) if (result.done !== true) yield result.value;
    open = open.filter((_, index) => results[index]?.done !== true);
  }
}

async function* iteratorOf(
  source: Iterable<DatasetRow> | AsyncIterable<DatasetRow>,
): AsyncGenerator<DatasetRow> {
  yield* source;
}
