import { resolve } from "node:path";
import { recipes } from "../../../recipe.ts";
import type { TrainConfigParams } from "../../../train-config.ts";
import type { EvalEnvironmentConfig, RlConfig } from "../rules/configs.ts";
import { embeddedFindings } from "./classify.ts";
import { environmentOf, rolloutTimeoutMs } from "./environment-plan.ts";
import { aboutOf, adapterOf, Notes, stepsOf, tellSlurm, windowOf, type EmbeddedPlan } from "./plan.ts";
import { teacherOf } from "./distill.ts";
import { policyOf, refuseAlgo } from "./policy.ts";

/** Turns of an episode at most where nothing says how many: an environment ends it before. */
const MAX_TURNS = 64;

/**
 * An `rl` configuration as a training on this machine: what is honoured becomes its setting, what cannot be is an
 * error, and what changes nothing here is told once. `cwd`: where paths of environments begin.
 */
export function planRl(
  config: RlConfig,
  provenance: Readonly<Record<string, string>>,
  cwd: string,
): EmbeddedPlan {
  const notes = new Notes(provenance);
  notes.findings.push(...embeddedFindings("rl", config, provenance));
  return {
    params: paramsOf(config, notes, provenance, cwd),
    findings: notes.findings,
    outputDir: resolve(cwd, config.output_dir),
    exportsTokens: config.trainer.enable_token_export,
  };
}

/** Null where something was refused: a recipe of such values would only be refused again. */
function paramsOf(
  config: RlConfig,
  notes: Notes,
  provenance: Readonly<Record<string, string>>,
  cwd: string,
): TrainConfigParams | null {
  const { trainer, orchestrator, env_vars: shared } = config;
  const model = trainer.model.name;
  const windowPath = config.seq_len === null ? "orchestrator.seq_len" : "seq_len";
  const window = windowOf(notes, windowPath, orchestrator.seq_len, model);
  const steps = stepsOf(notes, "trainer.", trainer);
  const group = groupOf(config, notes);
  const sampling = samplingOf(config, notes);
  refuseAlgo(config, notes);
  const teacher = teacherOf(config, provenance, notes);
  refuseOthers(config, notes);
  tellSlurm(notes, config.slurm);
  const { environments, evalEnvironments } = environmentsOf(config, notes, cwd);
  const held = orchestrator.eval?.env ?? [];
  const evalEvery = held.length > 0 ? intervalOf(held, notes) : null;
  const timeoutMs = rolloutTimeoutMs(
    [
      ...orchestrator.train.env.map((env, at) => ({ env, path: `orchestrator.train.env.${at}` })),
      ...held.map((env, at) => ({ env, path: `orchestrator.eval.env.${at}` })),
    ],
    notes,
  );
  if (notes.hasErrors) return null;
  const limits = [...orchestrator.train.env, ...held].flatMap((env) => env.max_total_tokens ?? []);
  const sampled = {
    ...steps,
    ...group,
    maxTokens: Math.min(sampling.max_completion_tokens ?? window, window),
    temperature: sampling.temperature,
    maxTurns: MAX_TURNS,
    contextTokens: Math.min(window, ...limits),
    ...(timeoutMs === undefined ? {} : { rolloutTimeoutMs: timeoutMs }),
    evalEvery,
  };
  return {
    model,
    environments,
    ...(held.length > 0 ? { evalEnvironments } : {}),
    ...(teacher === undefined
      ? { recipe: recipes.grpo({ ...sampled, ...policyOf(config) }) }
      : { recipe: recipes.distill(sampled), teacher }),
    adapter: adapterOf(notes, "trainer.model.lora", trainer.model.lora, model),
    // One process is all components: it has the variables of each.
    ...aboutOf(config, {
      ...shared,
      ...config.inference?.env_vars,
      ...trainer.env_vars,
      ...orchestrator.env_vars,
    }),
  };
}

function environmentsOf({ orchestrator }: RlConfig, notes: Notes, cwd: string) {
  const environments = orchestrator.train.env.map((env, index) =>
    environmentOf(env, `orchestrator.train.env.${index}`, notes, cwd),
  );
  const evalEnvironments = (orchestrator.eval?.env ?? []).map((env, index) => ({
    ...environmentOf(env, `orchestrator.eval.env.${index}`, notes, cwd, true),
    ...(env.num_examples < 0 ? {} : { maxTasks: Math.max(1, env.num_examples) }),
  }));
  return { environments, evalEnvironments };
}

/** Prompts a step and answers a prompt, from the rollouts of a batch. */
function groupOf({ orchestrator }: RlConfig, notes: Notes) {
  const { batch_size: batch, group_size: group, train, algo } = orchestrator;
  // A teacher grades each answer by itself.
  const least = algo.type === "opd" ? 1 : 2;
  if (group < least)
    notes.refuse(
      "orchestrator.group_size",
      "Answers are compared within a group, and a group of one has nothing to compare.",
      "Set orchestrator.group_size to 2 or more.",
    );
  train.env.forEach((env, index) => {
    if (env.group_size !== group)
      notes.refuse(
        `orchestrator.train.env.${index}.group_size`,
        `It is ${env.group_size} and orchestrator.group_size is ${group}; the embedded engine has one size for all.`,
        "Remove it, or set orchestrator.group_size.",
      );
  });
  return {
    promptsPerStep: Math.max(1, Math.floor((batch ?? group) / group)),
    samplesPerPrompt: Math.max(least, group),
  };
}

/** One way to sample for all environments, training and evaluation. */
function samplingOf({ orchestrator }: RlConfig, notes: Notes) {
  const { sampling, env } = orchestrator.train;
  const differs = (one: { temperature: number | null; max_completion_tokens: number | null }) =>
    (one.temperature ?? sampling.temperature) !== sampling.temperature ||
    (one.max_completion_tokens ?? sampling.max_completion_tokens) !== sampling.max_completion_tokens;
  const refuse = (path: string) =>
    notes.refuse(
      path,
      "The embedded engine samples all environments alike, for training and evaluation.",
      "Set orchestrator.train.sampling, and no other.",
    );
  env.forEach((each, index) => {
    if (differs(each.sampling)) refuse(`orchestrator.train.env.${index}.sampling`);
  });
  orchestrator.eval?.env.forEach((each, index) => {
    const { top_p: topP, top_k: topK } = each.sampling;
    if (differs(each.sampling) || topP !== null || topK !== null)
      refuse(`orchestrator.eval.env.${index}.sampling`);
    if (each.group_size !== 1)
      notes.refuse(
        `orchestrator.eval.env.${index}.group_size`,
        "The embedded engine evaluates one answer a task.",
        "Remove it: every task is answered once.",
      );
  });
  return sampling;
}

function refuseOthers({ orchestrator }: RlConfig, notes: Notes): void {
  const { eval: held, train } = orchestrator;
  if (held?.skip_first_step === false)
    notes.tell(
      "orchestrator.eval.skip_first_step",
      "The first evaluation is after the first interval.",
      "Set it to true to agree. The reward of step 1 is that of the model before training.",
    );
  if (train.env.length === 0)
    notes.refuse(
      "orchestrator.train.env",
      "There is no environment to train in.",
      'Add [[orchestrator.train.env]] with an id, for example "reverse-text".',
    );
}

function intervalOf(held: readonly EvalEnvironmentConfig[], notes: Notes): number {
  const [first] = held;
  const other = held.findIndex(({ interval }) => interval !== first?.interval);
  if (other > 0)
    notes.refuse(
      `orchestrator.eval.env.${other}.interval`,
      "The embedded engine evaluates all environments together.",
      "Give all the same interval.",
    );
  return first?.interval ?? 1;
}
