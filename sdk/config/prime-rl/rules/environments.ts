import type { EnvironmentConfig, EvalEnvironmentConfig, OrchestratorConfig } from "./configs.ts";
import type { Scope } from "./scope.ts";

/** What runs an algorithm needs of the model that samples. */
const NEEDS_POLICY = new Set(["grpo", "echo", "max_rl", "opd", "opsd"]);
/** The name under which figures over all environments are kept. */
const RESERVED = "agg";

type AnyEnvironment = EnvironmentConfig | EvalEnvironmentConfig;

/** The name that logs, files and figures use. */
export function nameOf(environment: AnyEnvironment): string {
  return environment.name ?? (environment.taskset.id || (environment.id ?? ""));
}

/** An environment by id and args, without a taskset. */
const isLegacy = (environment: AnyEnvironment) => environment.taskset.id === "";

/** What holds for environments of either kind: something to run, a name of its own. */
export function checkEnvironments(scope: Scope<{ env: AnyEnvironment[] }>): void {
  const seen = new Map<string, number>();
  for (const [index, environment] of scope.value.env.entries()) {
    const name = nameOf(environment);
    const here = scope.name("env", index);
    if (name === "" || (isLegacy(environment) && !environment.id))
      scope.error(
        ["env", index],
        `${here} names no environment.`,
        'Add id = "reverse-text", or taskset = { id = "..." }.',
      );
    else if (name === RESERVED)
      scope.error(
        ["env", index, "name"],
        `"${RESERVED}" is the name of what is summed over all environments.`,
        "Choose another name.",
      );
    else if (seen.has(name))
      scope.error(
        ["env", index, "name"],
        `Two environments are called ${name}: ${scope.name("env", seen.get(name) ?? 0)} and ${here}.`,
        "Give each a name of its own; the id may be the same.",
      );
    seen.set(name, index);
  }
}

/** Knobs of environments by id travel in their extra arguments. */
function carryLimits(scope: Scope<AnyEnvironment>): void {
  const { timeout, max_output_tokens } = scope.value;
  if (!isLegacy(scope.value)) return;
  const limits = { timeout_seconds: timeout.rollout, max_total_completion_tokens: max_output_tokens };
  for (const [key, limit] of Object.entries(limits))
    if (limit !== null)
      scope.derive(
        ["extra_env_kwargs", key],
        limit,
        scope.name(...(key === "timeout_seconds" ? ["timeout", "rollout"] : ["max_output_tokens"])),
      );
}

/** What an environment does not say itself, it has from its group. */
function inherit(scope: Scope<AnyEnvironment>, keys: readonly string[], group: Scope): void {
  for (const key of keys) if (!scope.isGiven(key)) scope.derive([key], group.value[key], group.name(key));
}

function inheritSampling(scope: Scope<AnyEnvironment>, group: Scope): void {
  const sampling = scope.value.sampling as Record<string, unknown>;
  const shared = group.value["sampling"] as Record<string, unknown>;
  for (const [key, value] of Object.entries(shared))
    if (!scope.isGiven("sampling", key) && key in sampling)
      scope.derive(["sampling", key], value, group.name("sampling", key));
}

/** Completes the training environments. */
export function finishTrain(scope: Scope<OrchestratorConfig>): void {
  const group = scope.within<OrchestratorConfig["train"]>("train");
  checkEnvironments(group);
  checkAlgo(scope, ["algo"]);
  for (const [index] of group.value.env.entries()) {
    const environment = group.within<EnvironmentConfig>("env", index);
    if (environment.value.algo) checkAlgo(environment as Scope<never>, ["algo"]);
    else environment.derive(["algo"], scope.value.algo, scope.name("algo"));
    inheritSampling(environment, group);
    inherit(environment, ["group_size"], scope);
    carryLimits(environment);
    finishRequests(environment, scope);
  }
}

/** What the policy's server needs of each request; a server elsewhere may refuse it. */
function finishRequests(environment: Scope<EnvironmentConfig>, scope: Scope<OrchestratorConfig>): void {
  if (isPolicySourced(environment.value)) {
    const standard = { top_k: -1, min_p: 0, return_token_ids: true };
    for (const [key, value] of Object.entries(standard))
      if (!(key in environment.value.sampling.extra_body))
        environment.derive(["sampling", "extra_body", key], value, environment.name("algo"));
  }
  if (isLegacy(environment.value))
    environment.derive(["extra_env_kwargs", "max_seq_len"], scope.value.seq_len, scope.name("seq_len"));
}

/** Whether the policy writes an environment's rollouts. */
export const isPolicySourced = ({ algo }: EnvironmentConfig): boolean => algo?.sampling.source === "policy";

/** Completes the evaluation environments. */
export function finishEval(scope: Scope<NonNullable<OrchestratorConfig["eval"]>>): void {
  if (scope.value.env.length === 0)
    scope.error(
      ["env"],
      `[${scope.name()}] has no environment to evaluate in.`,
      `Add [[${scope.name("env")}]], or remove [${scope.name()}].`,
    );
  checkEnvironments(scope);
  for (const [index] of scope.value.env.entries()) {
    const environment = scope.within<EvalEnvironmentConfig>("env", index);
    inheritSampling(environment, scope);
    inherit(environment, ["num_examples", "group_size", "interval"], scope);
    carryLimits(environment);
  }
}

type Algo = OrchestratorConfig["algo"];

/** Whom an algorithm samples from, and whether its frozen models say where they are. */
function checkAlgo(scope: Scope<{ algo: Algo }>, at: ["algo"]): void {
  const { algo } = scope.value;
  const { source } = algo.sampling;
  if (NEEDS_POLICY.has(algo.type) && source !== "policy")
    scope.error(
      [...at, "sampling", "source"],
      `${algo.type} learns from what the policy itself samples.`,
      `Remove sampling.source, or distil with type = "sft".`,
    );
  if (algo.type === "sft" && source === "policy")
    scope.error(
      [...at, "sampling", "source"],
      "sft learns from another model's answers, and none is named.",
      "Set sampling.source to { name, base_url } of a served model.",
    );
  if (algo.type === "echo" && Object.values(algo.roles).every((role) => role === null))
    scope.error([...at, "roles"], "echo has no role to learn from.", "Name system, user, assistant or tool.");
  if (algo.type === "opd") checkFrozen(scope, [...at, "teacher"]);
  if (source !== "policy") checkFrozen(scope, [...at, "sampling", "source"]);
}

function checkFrozen(scope: Scope<{ algo: Algo }>, at: string[]): void {
  if (scope.isGiven(...at, "base_url") || scope.isGiven(...at, "elastic")) return;
  scope.error(
    at,
    `${scope.name(...at)} does not say where the model is served.`,
    `Add base_url = ["https://..."]: only the policy is served here.`,
  );
}
