import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { recipes } from "../../../recipe.ts";
import { learnRole, type LearnRole } from "../../../schema/sft-algorithm.ts";
import type { TrainConfigParams } from "../../../train-config.ts";
import type { SftConfig } from "../rules/configs.ts";
import { embeddedFindings } from "./classify.ts";
import { aboutOf, adapterOf, Notes, stepsOf, tellSlurm, windowOf, type EmbeddedPlan } from "./plan.ts";
import { answersOf, type AnswerSource } from "./answer-rows.ts";

type Data = SftConfig["data"];

/** An `sft` configuration as a training on this machine. `cwd`: where the paths of data begin. */
export async function planSft(
  config: SftConfig,
  provenance: Readonly<Record<string, string>>,
  cwd: string,
): Promise<EmbeddedPlan> {
  const notes = new Notes(provenance);
  notes.findings.push(...embeddedFindings("sft", config, provenance));
  return {
    params: await paramsOf(config, notes, cwd),
    findings: notes.findings,
    outputDir: resolve(cwd, config.output_dir),
    exportsTokens: false,
  };
}

async function paramsOf(config: SftConfig, notes: Notes, cwd: string): Promise<TrainConfigParams | null> {
  const { data, val } = config;
  const model = config.model.name;
  windowOf(notes, "data.seq_len", data.seq_len, model);
  const steps = stepsOf(notes, "", config);
  tellSlurm(notes, config.slurm);
  const source = sourceOf(data, "data", notes, cwd);
  const held = val === null ? undefined : sourceOf(val.data, "val.data", notes, cwd);
  const learnRoles = rolesOf(data, notes);
  if (notes.hasErrors || source === undefined) return null;
  const { dataset, seed } = { dataset: await answersOf(source), seed: data.type === "sft" ? data.seed : 0 };
  return {
    model,
    dataset,
    ...(held && { evalDataset: await answersOf(held) }),
    recipe: recipes.sft({
      ...steps,
      batchSize: data.batch_size,
      learnRoles,
      ...(val === null ? {} : { evalEvery: val.interval }),
    }),
    adapter: adapterOf(notes, "model.lora", config.model.lora, model),
    seed: Math.max(0, seed),
    ...aboutOf(config, config.env_vars),
  };
}

/** Whose messages are learned. */
function rolesOf(data: Data, notes: Notes): LearnRole[] {
  if (data.type !== "sft") return [];
  const roles = learnRole.options.filter((role) => data.loss_mask[role]);
  if (roles.length === 0)
    notes.refuse(
      "data.loss_mask",
      "Of a conversation nobody's messages are learned.",
      "Set assistant = true, or another role.",
    );
  return roles;
}

function sourceOf(data: Data, path: string, notes: Notes, cwd: string): AnswerSource | undefined {
  if (data.type !== "sft") {
    notes.refuse(
      `${path}.type`,
      "Made-up data teaches nothing here.",
      'Remove type = "fake", and give data.name.',
    );
    return undefined;
  }
  const { name, subsets, splits } = data;
  for (const [key, list] of Object.entries({ subsets, splits }))
    if (list !== null && list.length > 1)
      notes.refuse(`${path}.${key}`, `One of ${key} is read here, not ${list.length}.`, "Name one.");
  const file = resolve(cwd, name);
  const isPath = isAbsolute(name) || /^\.\.?\//.test(name) || (existsSync(file) && statSync(file).isFile());
  if (isPath && !existsSync(file)) {
    notes.refuse(
      `${path}.name`,
      `There is no file ${name}.`,
      "Check the path; it begins in the current folder.",
    );
    return undefined;
  }
  return isPath ? { file } : { repo: name, config: subsets?.[0], split: splits?.[0] };
}
