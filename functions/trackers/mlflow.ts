import * as z from "zod/mini";
import type { Run, RunState } from "../../sdk/schema/run.ts";
import type { Tracker } from "../../sdk/schema/tracker.ts";
import type { Row } from "./rows.ts";
import { askTracker, type TrackerHttp } from "./tracker-http.ts";
import { settingsOf, TrackerRefusal, type TrackedRun, type TrackerSink } from "./tracker-sink.ts";

/** Of one call of log-batch, as MLflow bounds it. */
const MAX_METRICS = 1_000;
const MAX_PARAMS = 100;
const MAX_PARAM_CHARACTERS = 500;
/** Says which run of Spotter's it is, so that one that was begun is found again. */
const RUN_TAG = "spotter.run_id";
/** How many rows arrived: written with them. */
const ROWS_TAG = "spotter.rows";

/** As MLflow makes them. They become part of addresses, and of what people are shown. */
const mlflowId = z.string().check(z.regex(/^[\w-]{1,100}$/));
const experimentReply = z.object({ experiment: z.object({ experiment_id: mlflowId }) });
const createdReply = z.object({ experiment_id: mlflowId });
const mlflowRun = z.object({
  info: z.object({ run_id: mlflowId }),
  data: z.optional(z.object({ tags: z.optional(z.array(z.object({ key: z.string(), value: z.string() }))) })),
});
const runReply = z.object({ run: mlflowRun });
const searchReply = z.object({ runs: z.optional(z.array(mlflowRun)) });

const STATUS: Partial<Record<RunState, string>> = {
  succeeded: "FINISHED",
  failed: "FAILED",
  cancelled: "KILLED",
};

/** Tells an MLflow tracking server, over its REST API 2.0. */
export function mlflowSink(
  tracker: Extract<Tracker, { kind: "mlflow" }>,
  secret: string | undefined,
  http: TrackerHttp,
): TrackerSink {
  const base = tracker.url.replace(/\/+$/, "");
  const authorization = secret === undefined ? undefined : authorizationOf(secret);
  const ask = async <T>(method: "GET" | "POST", path: string, schema: z.ZodMiniType<T>, json?: unknown) => {
    const url = `${base}/api/2.0/mlflow/${path}`;
    const answer = z.safeParse(schema, await askTracker(http, { method, url, authorization, json }));
    if (answer.success) return answer.data;
    throw new TrackerRefusal(`${path.split("?")[0]} answered as MLflow does not`);
  };
  const post = <T>(path: string, schema: z.ZodMiniType<T>, json: unknown) => ask("POST", path, schema, json);

  async function experimentId(): Promise<string> {
    const name = tracker.experiment;
    const find = () =>
      ask("GET", `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`, experimentReply);
    try {
      return (await find()).experiment.experiment_id;
    } catch (error) {
      if (!(error instanceof TrackerRefusal && error.status === 404)) throw error;
    }
    try {
      return (await post("experiments/create", createdReply, { name })).experiment_id;
    } catch (error) {
      // Another run may have made it meanwhile.
      if (!(error instanceof TrackerRefusal && error.status === 400)) throw error;
      return (await find()).experiment.experiment_id;
    }
  }

  async function runId(experiment: string, { run }: TrackedRun): Promise<string> {
    const filter = `tags.\`${RUN_TAG}\` = '${run.id}'`;
    const search = { experiment_ids: [experiment], filter, max_results: 1 };
    const [known] = (await post("runs/search", searchReply, search)).runs ?? [];
    if (known !== undefined) return known.info.run_id;
    const tags = {
      [RUN_TAG]: run.id,
      "mlflow.runName": run.name ?? run.id,
      "mlflow.source.name": "spotter",
      ...(run.tags.length > 0 && { "spotter.tags": run.tags.join(", ") }),
    };
    const made = await post("runs/create", runReply, {
      experiment_id: experiment,
      run_name: run.name ?? run.id,
      start_time: run.createdAtMs,
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
    });
    return made.run.info.run_id;
  }

  /** How many rows the server has. */
  async function rowsThere(id: string): Promise<number> {
    const { run } = await ask("GET", `runs/get?run_id=${encodeURIComponent(id)}`, runReply);
    return Number(run.data?.tags?.find(({ key }) => key === ROWS_TAG)?.value ?? 0);
  }

  return {
    merges: false,
    async begin(tracked) {
      const experiment = await experimentId();
      const id = await runId(experiment, tracked);
      const params = Object.entries(settingsOf(tracked.spec))
        .slice(0, MAX_PARAMS)
        .map(([key, value]) => ({ key, value: String(value).slice(0, MAX_PARAM_CHARACTERS) }));
      await post("runs/log-batch", z.unknown(), { run_id: id, params });
      return { place: { runId: id }, link: `${base}/#/experiments/${experiment}/runs/${id}` };
    },
    async add(place, rows, before, _after, isSure) {
      const id = String(place["runId"]);
      const there = isSure ? before.rows : await rowsThere(id);
      const skipped = Math.max(0, there - before.rows);
      for (const { metrics, end } of batches(rows.slice(skipped), before.rows + skipped)) {
        const tags = end === undefined ? [] : [{ key: ROWS_TAG, value: String(end) }];
        await post("runs/log-batch", z.unknown(), { run_id: id, metrics, tags });
      }
      return place;
    },
    async end(place, run: Run) {
      const status = STATUS[run.state] ?? "FINISHED";
      const json = { run_id: place["runId"], status, ...(run.endedAtMs && { end_time: run.endedAtMs }) };
      await post("runs/update", z.unknown(), json);
    },
  };
}

interface Metric {
  key: string;
  value: number;
  timestamp: number;
  step: number;
}

/** Whole rows, as many as one call takes. `end`: the number of rows with them, where the last is whole. */
function* batches(rows: readonly Row[], first: number): Generator<{ metrics: Metric[]; end?: number }> {
  let metrics: Metric[] = [];
  let end = first;
  for (const { step, atMs, metrics: row } of rows) {
    const more = Object.entries(row).map(([name, value]) => ({
      key: metricKey(name),
      value,
      timestamp: Math.round(atMs),
      step,
    }));
    if (metrics.length > 0 && metrics.length + more.length > MAX_METRICS) {
      yield { metrics, end };
      metrics = [];
    }
    for (; more.length > MAX_METRICS; more.splice(0, MAX_METRICS))
      yield { metrics: more.slice(0, MAX_METRICS) };
    metrics.push(...more);
    end += 1;
  }
  if (metrics.length > 0) yield { metrics, end };
}

/** MLflow takes letters, digits, and a few signs; a key is a path, which must stay in its place. */
function metricKey(name: string): string {
  const safe = name.replaceAll(/[^\p{L}\p{N}_\-. :/]/gu, "_").replace(/^\/+/, "");
  return safe
    .split("/")
    .map((part) => (/^\.*$/.test(part) ? "_" : part))
    .join("/")
    .slice(0, 250);
}

/** `user:password` is for Basic, anything else a token. */
function authorizationOf(secret: string): string {
  return secret.includes(":") ? `Basic ${Buffer.from(secret).toString("base64")}` : `Bearer ${secret}`;
}
