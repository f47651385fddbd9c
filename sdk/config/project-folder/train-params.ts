import { join, resolve } from "node:path";
import type { GrpoParams } from "../../grpo-params.ts";
import { recipes } from "../../recipe.ts";
import type { LearnRole } from "../../schema/sft-algorithm.ts";
import type { TeacherParams } from "../../teacher.ts";
import type { RunEvalParams, TrainConfigParams } from "../../train-config.ts";
import type { ProjectConfig } from "./config-schema.ts";
import type { LaunchOptions } from "./launch-project.ts";
import type { Plan } from "./plan.ts";
import { ProjectDataset } from "./project-dataset.ts";
import type { Project } from "./project.ts";
import { trainRows } from "./size-rules.ts";

type PolicyParams = Pick<GrpoParams, "loss" | "advantage" | "clipLow" | "clipHigh" | "klCoef">;

/** The parts of a plan's spec that go on as they are. */
interface PlanSpec {
  name?: string;
  tags?: string[];
  alias?: string;
  model: { name: string };
  adapter: { kind: "lora"; rank: number; alpha: number };
  rollout: Record<string, unknown>;
  algorithm: { kind: string; batchSize: number; learnRoles?: LearnRole[] } & PolicyParams;
  trainer: { steps: number; learningRate: number; saveEvery?: number; microBatchSize?: number };
  teacher?: { model?: { name: string }; checkpoint?: string; endpoint?: string; agentic: boolean };
  rewards?: { files: string[]; timeoutMs: number };
  tools?: { files: string[]; timeoutMs: number };
  limits?: { maxCostUsd?: number };
  evalEvery?: number;
  evals?: RunEvalParams[];
  seed: number;
}

/** A plan as the training that a script would describe; only for what the embedded engine can do. */
export function trainParams(
  project: Project & { config: ProjectConfig },
  plan: Plan,
  { secrets = [], allowPython, trackers = [] }: LaunchOptions = {},
): TrainConfigParams {
  const spec = plan.spec as unknown as PlanSpec;
  const { folder, config, rows } = project;
  const path = resolve(folder, project.trainFile);
  const take = trainRows(rows.rows, project.view);
  const source = { path, kind: config.dataset_type, isWhole: spec.algorithm.learnRoles !== undefined };
  const [rewards] = spec.rewards?.files ?? [];
  const [tools] = spec.tools?.files ?? [];
  return {
    model: modelIn(folder, spec.model.name),
    dataset: new ProjectDataset({ ...source, take }),
    ...(take < rows.rows && {
      evalDataset: new ProjectDataset({ ...source, skip: take }),
      allowOverlap: true,
    }),
    recipe: recipeOf(spec),
    ...(spec.teacher && { teacher: teacherIn(folder, spec.teacher) }),
    ...(rewards && { rewards: { file: join(folder, rewards), timeoutMs: spec.rewards?.timeoutMs } }),
    ...(tools && { tools: { file: join(folder, tools), timeoutMs: spec.tools?.timeoutMs } }),
    ...(allowPython !== undefined && { allowPython }),
    ...(spec.evals && { evals: spec.evals }),
    adapter: spec.adapter,
    ...(spec.name !== undefined && { name: spec.name }),
    tags: spec.tags ?? [],
    ...(spec.alias !== undefined && { alias: spec.alias }),
    ...(spec.limits && { limits: spec.limits }),
    secrets: [...secrets],
    ...(trackers.length > 0 && { trackers }),
    seed: spec.seed,
  };
}

/** Folders are meant as seen from the project, wherever the command is run. */
function modelIn(folder: string, name: string): string {
  return /^\.{1,2}(?:\/|$)/.test(name) ? resolve(folder, name) : name;
}

function teacherIn(folder: string, { model, ...teacher }: NonNullable<PlanSpec["teacher"]>): TeacherParams {
  return model === undefined ? teacher : { ...teacher, model: modelIn(folder, model.name) };
}

function recipeOf(spec: PlanSpec): TrainConfigParams["recipe"] {
  const shared = spec.trainer;
  if (spec.algorithm.kind === "sft") {
    const evalEvery = spec.evalEvery === undefined ? {} : { evalEvery: spec.evalEvery };
    const { batchSize, learnRoles } = spec.algorithm;
    return recipes.sft({ ...shared, ...evalEvery, batchSize, ...(learnRoles && { learnRoles }) });
  }
  const { kind, batchSize: _, loss, advantage, ...weights } = spec.algorithm;
  if (kind === "distill") return recipes.distill({ ...shared, ...spec.rollout, ...weights });
  return recipes.grpo({ ...shared, ...spec.rollout, ...weights, loss, advantage });
}
