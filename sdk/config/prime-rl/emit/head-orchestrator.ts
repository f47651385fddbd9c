import { isTable } from "../walk.ts";
import { checkpointToHead } from "./head-model.ts";
import { Conversion, type Table } from "./tree.ts";

const GONE = "the newer version has no such setting.";

export function orchestratorToHead(it: Conversion, at: string): void {
  environmentsToHead(it, at, "train");
  environmentsToHead(it, at, "eval");
  algoToHead(it, `${at}algo.`);
  clientToHead(it, `${at}model.client.`);
  filtersToHead(it, at);
  concurrencyToHead(it, at);
  it.drop(`${at}pool_size`, GONE);
  it.drop(`${at}optim`, "the trainer's optimizer is the only one.", { lr: 1e-4 });
  it.drop(`${at}bench`, GONE, false);
  it.drop(`${at}wandb.log_extras`, GONE, EXTRAS);
  it.move(`${at}wandb`, `${at}monitors.wandb`);
  monitorToHead(it, at);
  checkpointToHead(it, at);
}

const EXTRAS = { samples: true, distributions: true, interval: 10, sample_ratio: null };

function monitorToHead(it: Conversion, at: string): void {
  const monitor = it.takeTable(`${at}prime_monitor`);
  if (!monitor) {
    it.take(`${at}prime_monitor`);
    return;
  }
  it.put(`${at}monitors.prime`, { name: monitor["run_name"] ?? null });
  for (const key of ["team_id", "frontend_url"])
    if (monitor[key] != null) it.lose(`${at}prime_monitor.${key}`, "the platform's own settings say it.");
}

/** A client speaks to one address. */
function clientToHead(it: Conversion, at: string): void {
  const urls = it.take(`${at}base_url`);
  if (Array.isArray(urls)) {
    if (urls.length > 1) it.lose(`${at}base_url`, "a client has one address; the first stays.");
    it.put(`${at}base_url`, urls[0]);
  }
  for (const key of ["elastic", "router_url"]) it.drop(`${at}${key}`, GONE);
  // The router spreads requests over the engines.
  it.take(`${at}dp_rank_count`);
}

function algoToHead(it: Conversion, at: string): void {
  for (const model of ["sampling.source", "teacher"]) {
    const value = it.take(`${at}${model}`);
    if (!isTable(value)) it.put(`${at}${model}`, value);
    else {
      const inner = new Conversion({ m: value }, [...it.base, ...`${at}${model}`.split(".")]);
      clientToHead(inner, "m.");
      inner.keepRest();
      it.dropped.push(...inner.dropped);
      it.put(`${at}${model}`, inner.to["m"]);
    }
  }
}

/** Rollouts at once: the newer version finds out by itself unless somebody chose. */
function concurrencyToHead(it: Conversion, at: string): void {
  const factor = it.take(`${at}oversampling_factor`);
  const rollouts = it.take(`${at}max_inflight_rollouts`);
  if (typeof factor === "number" && typeof rollouts === "number")
    it.put(`${at}concurrency`, { min_inflight: rollouts, max_inflight: rollouts });
}

function filtersToHead(it: Conversion, at: string): void {
  for (const slot of ["pre_batch_filters", "post_batch_filters"]) {
    const filters = it.take(`${at}${slot}`);
    if (!Array.isArray(filters)) continue;
    for (const filter of filters.filter(isTable)) {
      const { type, enforce } = filter;
      if (type !== "zero_advantage") {
        if (enforce === true) it.lose(`${at}${slot}`, `the newer version has no ${String(type)} filter.`);
      } else if (slot === "post_batch_filters")
        it.put(`${at}train.filter_zero_advantages`, enforce !== false);
      else if (enforce !== false) gate(it, at);
    }
  }
}

/** Before a batch a gate keeps such groups out, source by source. */
function gate(it: Conversion, at: string): void {
  const orchestrator = at === "" ? it.to : it.to[at.replace(".", "")];
  const train = isTable(orchestrator) ? orchestrator["train"] : undefined;
  const sources = isTable(train) && Array.isArray(train["source"]) ? train["source"] : [];
  const zero = { type: "advantage_range", reject_min: 0, reject_max: 0 };
  for (const source of sources.filter(isTable))
    source["curriculum"] = { sampler: { type: "standard" }, gates: { zero_advantage: zero } };
}

function environmentsToHead(it: Conversion, at: string, group: "train" | "eval"): void {
  const environments = it.take(`${at}${group}.env`);
  if (!Array.isArray(environments)) return;
  const sources = environments.map((environment, index) => {
    const inner = new Conversion(isTable(environment) ? environment : {}, [
      ...it.base,
      ...`${at}${group}.env`.split("."),
      index,
    ]);
    sourceOf(inner);
    inner.keepRest();
    it.dropped.push(...inner.dropped);
    return inner.to;
  });
  it.put(`${at}${group}.source`, sources);
}

/** What runs moves into `env`, who runs it into `env.agent`, and where into `serve`. */
function sourceOf(it: Conversion): void {
  const id = it.take("id");
  const args = it.takeTable("args") ?? {};
  const taskset = it.takeTable("taskset") ?? {};
  if (typeof id === "string" && !taskset["id"]) {
    it.put("env.taskset", { id: id.replace(/^.*\//, "").replace(/@.*$/, ""), ...args });
    it.put("name", it.take("name") ?? id);
    it.lose(
      "id",
      "the newer version runs tasksets; the one of this name, with the args as its fields, is put here.",
    );
  } else it.put("env.taskset", taskset);
  const { runtime, ...harness } = it.takeTable("harness") ?? {};
  it.put("env.agent.harness", harness);
  it.put("env.agent.runtime", runtime);
  for (const key of ["max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "timeout"])
    it.move(key, `env.agent.${key}`);
  it.drop("retries", GONE, { rollout: { max_retries: 0, include: [], exclude: [] } });
  it.move("address", "serve.address");
  it.move("pool", "serve.pool");
  it.move("multiplex", "serve.max_concurrent");
  dropLimits(it);
  algoToHead(it, "algo.");
}

/** Environments by id carry limits in extra arguments; the agent has them in its own. */
function dropLimits(it: Conversion): void {
  const extra: Table = it.takeTable("extra_env_kwargs") ?? {};
  for (const key of ["max_seq_len", "timeout_seconds", "max_total_completion_tokens"]) delete extra[key];
  for (const key of Object.keys(extra)) it.lose(`extra_env_kwargs.${key}`, GONE);
}
