import * as z from "zod";
import { environmentAlgo } from "./algo.ts";
import { bool, choice, float, freeDict, int, list, section, text, variants } from "./fields.ts";

const maxCompletionTokens = int("The most tokens that a turn may write.", null, { aliases: ["max_tokens"] });
const extraBody = freeDict("More fields of each request.");

const TrainSampling = z.strictObject({
  temperature: float("The temperature.", 1, { min: 0, max: 2 }),
  max_completion_tokens: maxCompletionTokens,
  extra_body: extraBody,
});
const EvalSampling = z.strictObject({
  temperature: float("The temperature; null is the server's own.", null, { min: 0, max: 2 }),
  top_p: float("Only the likeliest tokens that sum to this.", null),
  top_k: int("Only so many of the likeliest tokens.", null),
  min_p: float("Only tokens at least this likely, next to the likeliest.", null, { min: 0 }),
  max_completion_tokens: maxCompletionTokens,
  reasoning_effort: choice(["minimal", "low", "medium", "high"], "How long to reason.", null),
  extra_body: extraBody,
});
export const trainSampling = section(TrainSampling, "How rollouts are sampled.");
export const evalSampling = section(EvalSampling, "How evaluations are sampled.");

// A taskset and a harness have fields of their own kind: those of the named module, which knows them.
const Taskset = z.looseObject({ id: text("The taskset's name; empty for an environment by id.", "") });
const Harness = z.looseObject({ id: text("What runs the model on a task: default, null.", "default") });

const seconds = (what: string) => float(`Seconds that ${what} may take.`, null);
const Timeout = z.strictObject({
  setup: seconds("the setup"),
  rollout: seconds("the rollout"),
  finalize: seconds("the clean-up"),
  scoring: seconds("the scoring"),
});
const Retries = z.strictObject({
  rollout: section(
    z.strictObject({
      max_retries: int("How often a failed rollout is tried again.", 0),
      include: list(z.string(), "Only after these errors.", []),
      exclude: list(z.string(), "Never after these errors.", []),
    }),
    "When a rollout is tried again.",
  ),
});
const ElasticPool = z.strictObject({
  type: z.literal("elastic"),
  max_workers: int("The most workers.", null),
  multiplex: int("Rollouts a worker.", 128),
});
const StaticPool = z.strictObject({
  type: z.literal("static"),
  num_workers: int("How many workers.", 4),
});

const environmentFields = {
  taskset: section(Taskset, "The tasks, by the id of a taskset and its own fields."),
  harness: section(Harness, "What runs the model on a task."),
  timeout: section(Timeout, "How long each part may take."),
  retries: section(Retries, "What is tried again."),
  max_turns: int("The most turns.", null),
  max_input_tokens: int("The most tokens read.", null),
  max_output_tokens: int("The most tokens written.", null),
  max_total_tokens: int("The most tokens in all.", null),
  multiplex: int("Rollouts at once in a worker.", 32, { min: 1 }),
  id: text("The environment: a name, owner/name, owner/name@version, or a module by path.", null),
  args: freeDict("Given to the environment as they are."),
  extra_env_kwargs: freeDict("More arguments, set after loading."),
  pool: variants("type", [StaticPool, ElasticPool], "elastic", "The workers that run the environment."),
  name: text("Its name in logs and files; the id unless given. Unique among its neighbours.", null),
  address: text("Where it runs already: tcp://host:5000.", null),
  ratio: float("Its weight among the environments.", 1, { above: 0 }),
};

const groupSize = int("Rollouts a task.", 1, { min: 1, aliases: ["rollouts_per_example"] });

export const TrainEnvironment = z.strictObject({
  ...environmentFields,
  sampling: trainSampling,
  group_size: groupSize,
  algo: environmentAlgo,
});

const evalDefaults = {
  num_examples: int("How many tasks; -1 takes all.", -1),
  group_size: groupSize,
  interval: int("Steps between two evaluations.", 100, { min: 1 }),
};
export const EvalEnvironment = z.strictObject({
  ...environmentFields,
  sampling: evalSampling,
  ...evalDefaults,
});

export const Train = z.strictObject({
  env: list(TrainEnvironment, "The environments to train in.", []),
  sampling: trainSampling,
});
export const Eval = z.strictObject({
  env: list(EvalEnvironment, "The environments to evaluate in.", []),
  sampling: evalSampling,
  ...evalDefaults,
  skip_first_step: bool("Do not evaluate before the first step.", false),
});
