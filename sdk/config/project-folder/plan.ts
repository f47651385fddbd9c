import { basename } from "node:path";
import { modelNameKind } from "./catalogue.ts";
import { type ConfigDocument, sourceOf } from "./config-document.ts";
import { algorithmDefaults, type ProjectConfig, rolloutDefaults } from "./config-schema.ts";
import type { Project } from "./project.ts";
import type { Entry } from "./plan-entry.ts";
import { rolloutEntries } from "./plan-rollout.ts";
import { runEvalsOf } from "./run-evals.ts";
import { stepsOf } from "./size-rules.ts";

/** What is learnt from in an epoch, and what is only measured: rows, or the answers in them. */
export interface Examples {
  train: number;
  held: number;
}

/** What a project comes down to, in the words of a run's spec, with the source of every value. */
export interface Plan {
  spec: Record<string, unknown>;
  provenance: Record<string, string>;
}

const SAMPLED = ["rl", "distill"];

/** Resolves a valid project for one model. */
export function planOf(
  project: Project,
  config: ProjectConfig,
  document: ConfigDocument,
  model: string,
  examples: Examples,
): Plan {
  const entries = [
    ...identity(project, config, document, model),
    ...dataEntries(project, config, document, examples),
    ...(SAMPLED.includes(config.dataset_type) ? sampledEntries(project, config, document, model) : []),
    ...trainerEntries(project, config, document, examples),
  ];
  const spec: Record<string, unknown> = {};
  const provenance: Record<string, string> = {};
  for (const { path, value, source } of entries) {
    if (value === undefined) continue;
    put(spec, path.split("."), value);
    provenance[path] = source;
  }
  return { spec, provenance };
}

function from(document: ConfigDocument, key: string): string {
  return sourceOf(document, key.split("."));
}

/** What the last checkpoint is chatted with as. Of several models each has a name of its own. */
export function aliasOf(
  { name, path }: Pick<ProjectConfig["model"], "name" | "path">,
  model: string,
): string | undefined {
  if (name === null || name === undefined) return undefined;
  const own = [path].flat().length > 1 ? `${name}-${model.split("/").at(-1) ?? ""}` : name;
  const word = own
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|-+$/g, "");
  return word === "" ? undefined : word.slice(0, 63);
}

function identity(project: Project, config: ProjectConfig, document: ConfigDocument, model: string): Entry[] {
  const { model: own, dataset_type: kind } = config;
  const title = config.project_name || "";
  const name = displayable(title) ?? displayable(basename(project.folder));
  const alphaSource =
    own.qlora_alpha === null
      ? `twice the rank (${from(document, "model.qlora_rank")})`
      : from(document, "model.qlora_alpha");
  return [
    { path: "kind", value: kind === "midtrain" ? "sft" : kind, source: from(document, "dataset_type") },
    { path: "name", value: name, source: title ? from(document, "project_name") : "the folder's name" },
    { path: "tags", value: tagsOf(config), source: from(document, "project_id") },
    { path: "alias", value: aliasOf(own, model), source: from(document, "model.name") },
    { path: "project.id", value: config.project_id || undefined, source: from(document, "project_id") },
    { path: "project.name", value: title || undefined, source: from(document, "project_name") },
    {
      path: "project.description",
      value: config.description ?? undefined,
      source: from(document, "description"),
    },
    {
      path: "project.organization",
      value: config.organization_id || undefined,
      source: from(document, "organization_id"),
    },
    { path: "model.name", value: model, source: from(document, "model.path") },
    { path: "adapter.kind", value: "lora", source: "qlora_* means LoRA on the engine's own precision" },
    { path: "adapter.rank", value: own.qlora_rank, source: from(document, "model.qlora_rank") },
    { path: "adapter.alpha", value: own.qlora_alpha ?? 2 * own.qlora_rank, source: alphaSource },
    ...teacherEntries(project, config, document),
  ];
}

/** A model of the catalogue or a folder; or what was trained or is served here, by its id or name. */
function teacherEntries(
  { catalogue }: Project,
  { teacher }: ProjectConfig,
  document: ConfigDocument,
): Entry[] {
  if (!teacher) return [];
  const isRecord = modelNameKind(teacher.path, catalogue) === "record";
  const path = !isRecord ? "model.name" : teacher.path.includes("@") ? "checkpoint" : "endpoint";
  return [
    { path: `teacher.${path}`, value: teacher.path, source: from(document, "teacher.path") },
    { path: "teacher.agentic", value: teacher.agentic, source: from(document, "teacher.agentic") },
  ];
}

/** By these the runs of a folder, and of an organization, are found again: `spotter run list --tag project:ID`. */
export function tagsOf({ project_id: id, organization_id: organization }: ProjectConfig): string[] {
  return [...(id ? [`project:${id}`] : []), ...(organization ? [`organization:${organization}`] : [])];
}

function dataEntries(
  project: Project,
  config: ProjectConfig,
  document: ConfigDocument,
  examples: Examples,
): Entry[] {
  const { train, held } = examples;
  const file = from(document, "data.train_file");
  const split = from(document, "data.val_split");
  return [
    { path: "dataset.name", value: project.trainFile, source: file },
    { path: "dataset.rows", value: train, source: project.trainFile },
    { path: "evalDataset.name", value: held > 0 ? project.trainFile : undefined, source: split },
    { path: "evalDataset.rows", value: held > 0 ? held : undefined, source: split },
    {
      path: "evalEvery",
      value: held > 0 ? Math.ceil(train / config.data.batch_size) : undefined,
      source: `once an epoch (${split})`,
    },
  ];
}

function sampledEntries(
  project: Project,
  config: ProjectConfig,
  document: ConfigDocument,
  model: string,
): Entry[] {
  const rollout = config.rollout ?? rolloutDefaults;
  const algorithm = config.algorithm ?? algorithmDefaults;
  const isDistill = config.dataset_type === "distill";
  const isAgentic = !isDistill || config.teacher?.agentic === true;
  const isClipped = algorithm.loss_fn === "ppo";
  const loss = from(document, "algorithm.loss_fn");
  const { rewards, tools } = project;
  const toolNames = isAgentic ? [...(tools.items?.keys() ?? [])] : [];
  const servers = rollout.mcp_url === null || !isAgentic ? undefined : [rollout.mcp_url].flat();
  const hasTools = toolNames.length > 0 || servers !== undefined;
  const at = (key: string) => from(document, key);
  return [
    ...rolloutEntries(project, config, document, model),
    {
      path: "algorithm.kind",
      value: isDistill ? "distill" : "grpo",
      source: at(isDistill ? "dataset_type" : "algorithm.adv_estimator"),
    },
    { path: "algorithm.loss", value: isDistill ? undefined : algorithm.loss_fn, source: loss },
    {
      path: "algorithm.advantage",
      value: isDistill ? undefined : algorithm.adv_estimator,
      source: at("algorithm.adv_estimator"),
    },
    { path: "algorithm.clipLow", value: isClipped ? 0.2 : undefined, source: loss },
    { path: "algorithm.clipHigh", value: isClipped ? 0.2 : undefined, source: loss },
    {
      path: "algorithm.klCoef",
      value: algorithm.kl_penalty_coef ?? (isDistill ? 1 : 0.01),
      source: at("algorithm.kl_penalty_coef"),
    },
    { path: "rewards.files", value: isDistill ? undefined : rewards.files, source: "the folder" },
    {
      path: "rewards.names",
      value: isDistill || !rewards.items ? undefined : [...rewards.items.keys()],
      source: rewards.files.join(", "),
    },
    {
      path: "rewards.timeoutMs",
      value: isDistill ? undefined : rollout.reward_timeout * 1_000,
      source: at("rollout.reward_timeout"),
    },
    { path: "tools.files", value: toolNames.length > 0 ? tools.files : undefined, source: "the folder" },
    {
      path: "tools.names",
      value: toolNames.length > 0 ? toolNames : undefined,
      source: tools.files.join(", "),
    },
    { path: "tools.servers", value: servers, source: at("rollout.mcp_url") },
    {
      path: "tools.timeoutMs",
      value: hasTools ? rollout.tool_timeout * 1_000 : undefined,
      source: at("rollout.tool_timeout"),
    },
  ];
}

function trainerEntries(
  project: Project,
  config: ProjectConfig,
  document: ConfigDocument,
  { train }: Examples,
): Entry[] {
  const { trainer, data } = config;
  const isSampled = SAMPLED.includes(config.dataset_type);
  const at = (key: string) => from(document, key);
  const steps = stepsOf(train, project.view);
  const isWhole = config.dataset_type === "sft" && project.rows.hasCalls;
  const what = config.dataset_type === "sft" && !isWhole ? "answers" : "rows";
  const stepsSource = `${at("trainer.num_epochs")}: ${trainer.num_epochs} times ${train} ${what} in batches of ${data.batch_size}`;
  const evals = runEvalsOf(config);
  return [
    ...(isSampled
      ? []
      : [
          { path: "algorithm.kind", value: "sft", source: at("dataset_type") },
          { path: "algorithm.batchSize", value: data.batch_size, source: at("data.batch_size") },
          {
            path: "algorithm.learnRoles",
            value: isWhole ? ["assistant"] : undefined,
            source: `${project.trainFile}: its answers call tools`,
          },
        ]),
    { path: "trainer.steps", value: steps, source: stepsSource },
    { path: "trainer.learningRate", value: trainer.learning_rate, source: at("trainer.learning_rate") },
    {
      path: "trainer.saveEvery",
      value: trainer.save_step > 0 ? trainer.save_step : undefined,
      source: at("trainer.save_step"),
    },
    { path: "limits.maxCostUsd", value: trainer.max_billing ?? undefined, source: at("trainer.max_billing") },
    { path: "evals", value: evals.length > 0 ? evals : undefined, source: at("evals") },
    { path: "engine", value: "onnx", source: "default" },
    { path: "seed", value: 0, source: "default" },
  ];
}

/** The source of every value of a spec, and of nothing else: what nobody set is a default. */
export function sourcesOf(
  spec: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    leavesOf(spec).map(([path]) => [path, known[path] ?? nearest(path, known) ?? "default"]),
  );
}

/** Values by their dotted path; lists and empty objects are values. */
export function leavesOf(value: unknown, path = ""): [string, unknown][] {
  const isBranch =
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  if (!isBranch) return [[path, value]];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, path === "" ? key : `${path}.${key}`));
}

/** Hashes and names are of the files around them. */
function nearest(path: string, known: Readonly<Record<string, string>>): string | undefined {
  if (/^(eval)?[dD]ataset\./.test(path)) return known["dataset.rows"];
  const [, part, key = ""] = /^(?:python\.)?(rewards|tools)\.(.+)$/.exec(path) ?? [];
  if (part === undefined) return path.startsWith("python.code.") ? pythonFiles(known) : undefined;
  return key === "file" || key.startsWith("code.") ? known[`${part}.names`] : known[`${part}.${key}`];
}

function pythonFiles(known: Readonly<Record<string, string>>): string {
  const files = [known["rewards.names"], known["tools.names"]].filter((file) => file?.endsWith(".py"));
  return files.join(", ");
}

function put(target: Record<string, unknown>, path: string[], value: unknown): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) target[key] = value;
  else put((target[key] ??= {}) as Record<string, unknown>, rest, value);
}

/** A name as runs take them: no control characters, not too long. */
export function displayable(name: string): string | undefined {
  const text = name
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
    .trim()
    .slice(0, 100)
    .trim();
  return text === "" ? undefined : text;
}
