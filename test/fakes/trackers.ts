import type { TrackerHttp, TrackerRequest } from "../../functions/trackers/tracker-http.ts";

/** What a tracking server would say; it may also throw, as a broken connection does. */
export type Trouble = (request: TrackerRequest) => number | "lose-answer" | undefined;

interface MlflowRun {
  id: string;
  experiment: string;
  name: string;
  status: string;
  endMs?: number;
  tags: Map<string, string>;
  params: Map<string, string>;
  /** All that was ever logged: its file store keeps doubles. */
  metrics: { key: string; value: number; timestamp: number; step: number }[];
}

/** As much of MLflow's REST API as is used, with the rules that its documentation states. */
export function fakeMlflow(trouble: Trouble = () => undefined) {
  const experiments: string[] = [];
  const runs: MlflowRun[] = [];
  const requests: TrackerRequest[] = [];
  const shown = ({ id, tags }: MlflowRun) => ({
    run: { info: { run_id: id }, data: { tags: [...tags].map(([key, value]) => ({ key, value })) } },
  });
  const find = (id: unknown) => runs.find((run) => run.id === id) as MlflowRun;

  function answer({ url, json }: TrackerRequest): [number, unknown] {
    const { pathname, searchParams } = new URL(url);
    const path = pathname.replace("/api/2.0/mlflow/", "");
    const body = (json ?? {}) as Record<string, unknown>;
    if (path === "experiments/get-by-name") {
      const at = experiments.indexOf(searchParams.get("experiment_name") ?? "");
      if (at < 0) return [404, { error_code: "RESOURCE_DOES_NOT_EXIST" }];
      return [200, { experiment: { experiment_id: String(at) } }];
    }
    if (path === "experiments/create")
      return [200, { experiment_id: String(experiments.push(String(body["name"])) - 1) }];
    if (path === "runs/search") {
      const [, wanted] = /^tags\.`spotter\.run_id` = '(.+)'$/.exec(String(body["filter"])) ?? [];
      const found = runs.filter(({ tags }) => tags.get("spotter.run_id") === wanted);
      return [200, found.length > 0 ? { runs: found.map((run) => shown(run).run) } : {}];
    }
    if (path === "runs/get") return [200, shown(find(searchParams.get("run_id")))];
    const tags = (body["tags"] ?? []) as { key: string; value: string }[];
    if (path === "runs/create") {
      const run: MlflowRun = {
        id: `mlflow-${runs.length}`,
        experiment: String(body["experiment_id"]),
        name: String(body["run_name"]),
        status: "RUNNING",
        tags: new Map(tags.map(({ key, value }) => [key, value])),
        params: new Map(),
        metrics: [],
      };
      runs.push(run);
      return [200, shown(run)];
    }
    const run = find(body["run_id"]);
    if (path === "runs/log-batch") {
      const metrics = (body["metrics"] ?? []) as MlflowRun["metrics"];
      const params = (body["params"] ?? []) as { key: string; value: string }[];
      if (metrics.length > 1_000 || params.length > 100)
        return [400, { error_code: "INVALID_PARAMETER_VALUE" }];
      run.metrics.push(...metrics);
      for (const { key, value } of params) {
        if ((run.params.get(key) ?? value) !== value) return [400, { error_code: "INVALID_PARAMETER_VALUE" }];
        run.params.set(key, value);
      }
      for (const { key, value } of tags) run.tags.set(key, value);
      return [200, {}];
    }
    if (path === "runs/update") {
      run.status = String(body["status"]);
      run.endMs = Number(body["end_time"]);
      return [200, {}];
    }
    return [404, { error_code: "ENDPOINT_NOT_FOUND" }];
  }
  return { experiments, runs, requests, http: troubled(requests, answer, trouble) };
}

/** As much of W&B's server as its client of version 0.31 uses for metrics. */
export function fakeWandb(trouble: Trouble = () => undefined) {
  const runs = new Map<string, Record<string, unknown>>();
  const history = new Map<string, string[]>();
  const summaries = new Map<string, Record<string, number>>();
  const ended = new Map<string, number>();
  const requests: TrackerRequest[] = [];

  function answer({ url, json }: TrackerRequest): [number, unknown] {
    const { pathname } = new URL(url);
    const body = json as Record<string, unknown>;
    if (pathname === "/graphql") {
      const variables = body["variables"] as Record<string, string | null>;
      if (variables["project"] === "forbidden")
        return [200, { data: null, errors: [{ message: "permission denied" }] }];
      const name = String(variables["name"]);
      const inserted = !runs.has(name);
      runs.set(name, variables);
      const project = { name: variables["project"], entity: { name: variables["entity"] ?? "me" } };
      return [200, { data: { upsertBucket: { bucket: { id: "b64", name, project }, inserted } } }];
    }
    const [, entity, project, run = ""] =
      /^\/files\/([^/]+)\/([^/]+)\/([^/]+)\/file_stream$/.exec(pathname) ?? [];
    if (!runs.has(run) || entity === undefined || project === undefined) return [404, {}];
    const files = (body["files"] ?? {}) as Record<string, { offset: number; content: string[] } | undefined>;
    const lines = history.get(run) ?? [];
    const fresh = files["wandb-history.jsonl"];
    if (fresh) {
      if (fresh.offset > lines.length) return [400, { error: "a gap" }];
      lines.splice(fresh.offset, fresh.content.length, ...fresh.content);
      history.set(run, lines);
    }
    const summary = files["wandb-summary.json"]?.content[0];
    if (summary !== undefined) summaries.set(run, JSON.parse(summary) as Record<string, number>);
    if (body["complete"] === true) ended.set(run, Number(body["exitcode"]));
    return [200, { exitcode: null, limits: {} }];
  }
  return {
    runs,
    summaries,
    ended,
    requests,
    lines: (run: string) =>
      (history.get(run) ?? []).map((line) => JSON.parse(line) as Record<string, number>),
    http: troubled(requests, answer, trouble),
  };
}

function troubled(
  requests: TrackerRequest[],
  answer: (request: TrackerRequest) => [status: number, body: unknown],
  trouble: Trouble,
): TrackerHttp {
  return async (request) => {
    requests.push(request);
    const what = trouble(request);
    if (typeof what === "number") return { status: what, text: '{"message": "not now"}' };
    const [status, body] = answer(request);
    if (what === "lose-answer") throw new Error("fetch failed");
    return { status, text: JSON.stringify(body) };
  };
}
