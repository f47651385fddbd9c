import { join, resolve } from "node:path";
import type { EvalParams } from "../../eval.ts";
import type { PassAt } from "../../schema/pass-at.ts";
import { usesTools } from "./code-rules.ts";
import { located } from "./config-document.ts";
import type { Finding, Path, Remark } from "./finding.ts";
import { ProjectDataset } from "./project-dataset.ts";
import type { ProjectRun, ResolvedProject } from "./resolve-project.ts";

type ValidProject = NonNullable<ResolvedProject["project"]>;

export interface ProjectEvalOptions {
  passAt: PassAt[];
  passThreshold?: number;
  /** Answers to each row. Default: the largest k. */
  samplesPerRow?: number | undefined;
  name?: string | undefined;
  seed?: number;
  /** Names of stored secrets that rewards and tools may read. */
  secrets?: readonly string[];
  allowPython?: boolean | undefined;
}

interface PlanSpec {
  name?: string;
  rollout: Pick<
    EvalParams,
    | "maxTurns"
    | "terminationPolicy"
    | "maxToolTokens"
    | "contextTokens"
    | "includeThinking"
    | "rolloutTimeoutMs"
  > & { chatTemplateKwargs?: Record<string, unknown> };
  rewards?: { files: string[]; timeoutMs: number };
  tools?: { files: string[]; timeoutMs: number };
}

/** A project as an eval of all its rows, played and judged as its training would. */
export function projectEval(
  project: ValidProject,
  { plan }: Pick<ProjectRun, "plan">,
  { secrets = [], name, allowPython, ...options }: ProjectEvalOptions,
): Omit<EvalParams, "endpoint"> {
  const spec = plan.spec as unknown as PlanSpec;
  const { folder, config } = project;
  const { maxTurns, terminationPolicy, maxToolTokens, contextTokens, ...rest } = spec.rollout;
  const { includeThinking, rolloutTimeoutMs, chatTemplateKwargs = {} } = rest;
  const [rewards] = spec.rewards?.files ?? [];
  const [tools] = spec.tools?.files ?? [];
  return {
    ...options,
    name: name ?? spec.name,
    dataset: new ProjectDataset({ path: resolve(folder, project.trainFile), kind: config.dataset_type }),
    ...(rewards && { rewards: { file: join(folder, rewards), timeoutMs: spec.rewards?.timeoutMs } }),
    ...(tools && { tools: { file: join(folder, tools), timeoutMs: spec.tools?.timeoutMs } }),
    ...{ maxTurns, terminationPolicy, maxToolTokens, contextTokens, includeThinking, rolloutTimeoutMs },
    chatOptions:
      Object.keys(chatTemplateKwargs).length === 0 ? {} : { chat_template_kwargs: chatTemplateKwargs },
    secrets: [...secrets],
    ...(allowPython !== undefined && { allowPython }),
  };
}

/** Why a project cannot be evaluated; empty where it can. */
export function evalLimits(project: ValidProject, allowPython: boolean | undefined): Finding[] {
  const { config, rewards, tools, rows, document } = project;
  const remarks: Remark[] = [];
  const refuse = (path: Path, message: string, hint: string) =>
    remarks.push({ code: "engine_unsupported", path, message, hint });
  const kind = config.dataset_type;
  if (kind !== "rl")
    refuse(
      ["dataset_type"],
      `${kind}: an eval judges answers with rewards, and there are none`,
      "Evaluate a project of dataset_type rl: its rows name the rewards that judge.",
    );
  const playsTools = kind === "rl" && usesTools(project.view, tools);
  const isMixed = ({ hasPython, hasTypeScript, items }: typeof rewards) =>
    hasPython && hasTypeScript && (items?.size ?? 0) > 0;
  if (isMixed(rewards) || isMixed(tools))
    refuse(
      ["dataset_type"],
      "rewards or tools are written in both TypeScript and Python, and only one of them runs here yet",
      "Write all of them in one language.",
    );
  if (allowPython !== true && (rewards.hasPython || (playsTools && tools.hasPython)))
    refuse(
      ["dataset_type"],
      "rewards.py or tools.py runs with your files and network in reach, and nobody allowed it",
      "If you trust the code, add --allow-python; or write it in TypeScript.",
    );
  if ((config.rollout?.mcp_url ?? null) !== null)
    refuse(["rollout", "mcp_url"], "MCP servers are not connected here yet", "Write the tools in tools.ts.");
  if (rows.hasDocker)
    refuse(
      ["data", "train_file"],
      "rows name a container in docker, and an eval starts none",
      "Leave docker out of the rows.",
    );
  return document === undefined ? [] : remarks.map((remark) => located(document, remark));
}
