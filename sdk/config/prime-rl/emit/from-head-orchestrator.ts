import { isTable } from "../walk.ts";
import { resumeFromHead } from "./resume.ts";
import { Conversion, type Table } from "./tree.ts";

const NEW = "this version has no such setting.";

export function orchestratorFromHead(it: Conversion, at: string): void {
  sourcesFromHead(it, at, "train");
  sourcesFromHead(it, at, "eval");
  clientFromHead(it, `${at}model.client.`);
  for (const model of ["sampling.source", "teacher"]) clientFromHead(it, `${at}algo.${model}.`);
  it.drop(`${at}eval.retrigger_on_resume`, NEW, false);
  const filters = it.take(`${at}train.filter_zero_advantages`);
  if (filters === false) it.put(`${at}post_batch_filters`, [{ type: "zero_advantage", enforce: false }]);
  concurrencyFromHead(it, at);
  it.move(`${at}monitors.wandb`, `${at}wandb`);
  const prime = it.take(`${at}monitors.prime`);
  if (isTable(prime)) it.put(`${at}prime_monitor`, { run_name: prime["name"] ?? null });
  it.take(`${at}monitors`);
  for (const key of ["env_server_base_port", "pad_to_multiple_of"]) it.take(`${at}${key}`);
  resumeFromHead(it, at);
}

function clientFromHead(it: Conversion, at: string): void {
  it.move(`${at}base_url`, `${at}base_url`, (url) => (typeof url === "string" ? [url] : url));
}

/** A fixed number of rollouts at once is a setting here; a range that adapts is not. */
function concurrencyFromHead(it: Conversion, at: string): void {
  const range = it.takeTable(`${at}concurrency`);
  if (!range) return;
  const { min_inflight: least, max_inflight: most } = range;
  if (least !== undefined && least === most) it.put(`${at}max_inflight_rollouts`, least);
  else it.lose(`${at}concurrency`, "this version does not adapt the number of rollouts at once.");
}

function sourcesFromHead(it: Conversion, at: string, group: "train" | "eval"): void {
  const sources = it.take(`${at}${group}.source`);
  if (!Array.isArray(sources)) return;
  const gated: unknown[] = [];
  const environments = sources.map((source, index) => {
    const base = [...it.base, ...`${at}${group}.source`.split("."), index];
    const inner = new Conversion(isTable(source) ? source : {}, base);
    gated.push(environmentOf(inner));
    inner.keepRest();
    it.dropped.push(...inner.dropped);
    return inner.to;
  });
  it.put(`${at}${group}.env`, environments);
  if (gated.length > 0 && gated.every((each) => each === true))
    it.put(`${at}pre_batch_filters`, [{ type: "zero_advantage", enforce: true }]);
}

/** Whether the source keeps groups without an advantage out. */
function environmentOf(it: Conversion): boolean {
  it.move("env.taskset", "taskset");
  it.move("env.agent.harness", "harness");
  it.move("env.agent.runtime", "harness.runtime");
  for (const key of ["max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "timeout"])
    it.move(`env.agent.${key}`, key);
  it.move("serve.address", "address");
  it.move("serve.pool", "pool");
  it.move("serve.max_concurrent", "multiplex");
  it.take("serve");
  const env = it.takeTable("env") ?? {};
  const agent = isTable(env["agent"]) ? env["agent"] : {};
  for (const key of Object.keys(agent)) it.lose(`env.agent.${key}`, NEW);
  for (const role of Object.keys(env).filter((key) => key !== "agent"))
    it.lose(`env.${role}`, "an environment of this version has one seat.");
  clientFromHead(it, "algo.teacher.");
  clientFromHead(it, "algo.sampling.source.");
  return gateFromHead(it);
}

function gateFromHead(it: Conversion): boolean {
  const { sampler, gates } = it.takeTable("curriculum") ?? {};
  if (isTable(sampler) && sampler["type"] !== "standard") it.lose("curriculum.sampler", NEW);
  const all = Object.entries(isTable(gates) ? gates : {});
  const isZero = (gate: unknown) => {
    const { reject_min, reject_max } = gate as Table;
    return (reject_min ?? 0) === 0 && (reject_max ?? 0) === 0;
  };
  for (const [name, gate] of all) if (!isZero(gate)) it.lose(`curriculum.gates.${name}`, NEW);
  return all.some(([, gate]) => isZero(gate));
}
