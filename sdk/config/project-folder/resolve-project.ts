import { resolve } from "node:path";
import { located } from "./config-document.ts";
import type { ProjectConfig } from "./config-schema.ts";
import { embeddedIgnores, embeddedLimits } from "./embedded-engine.ts";
import { type Finding, hasErrors } from "./finding.ts";
import { judgeFindings } from "./judge-findings.ts";
import { applyOverrides } from "./overrides.ts";
import { type Examples, type Plan, planOf } from "./plan.ts";
import { type Project, readProject } from "./project.ts";
import { trainRows } from "./size-rules.ts";
import { substitute, type Substitutes, withLocalModel } from "./substitute.ts";

export interface ResolveProjectParams extends Substitutes {
  /** `key=value`, over what config.yml says. */
  overrides?: readonly string[];
  environment?: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal | undefined;
  /** Whether rewards.py and tools.py may run beside the trainer. Default false. */
  allowPython?: boolean | undefined;
  /** Names of secrets that rewards and tools may read; unknown, nobody misses one. */
  secrets?: readonly string[] | undefined;
  /** See {@link readProject}. */
  isTrained?: boolean | "later";
}

/** One run of a project: of a list of models there is one for each. */
export interface ProjectRun {
  model: string;
  plan: Plan;
  /** Why this home's engine cannot run it; empty where it can. */
  limits: Finding[];
}

export interface ResolvedProject {
  /** Absent where there is an error among the findings. */
  project?: Project & { config: ProjectConfig };
  runs: ProjectRun[];
  findings: Finding[];
}

/**
 * Reads a project folder and resolves it to runs, one for each model.
 *
 * @example
 * const { runs, findings } = await resolveProject("my-project", { model: "spotter/nano" });
 */
export async function resolveProject(
  dir: string,
  params: ResolveProjectParams = {},
): Promise<ResolvedProject> {
  const { overrides = [], environment, signal, isTrained } = params;
  const project = await readProject(dir, {
    environment,
    signal,
    isTrained,
    change: (document, catalogue) => {
      const findings = applyOverrides(document, overrides);
      const substitutes = withLocalModel(resolve(dir), params);
      return [...findings, ...substitute(document, catalogue, substitutes)];
    },
  });
  if (!("folder" in project)) return { runs: [], findings: project.findings };
  const { config, document, findings } = project;
  if (!config || !document || hasErrors(findings)) return { runs: [], findings };
  const examples = await examplesIn(project);
  const ignored = embeddedIgnores(project).map((remark) => located(document, remark));
  const runs = [config.model.path].flat().map((model) => ({
    model,
    plan: planOf(project, config, document, model, examples),
    limits: embeddedLimits(config, project, model, params).map((remark) => located(document, remark)),
  }));
  const ofJudges = params.secrets ? judgeFindings(project.folder, project.rewards, params.secrets) : [];
  return { project: { ...project, config }, runs, findings: [...findings, ...ofJudges, ...ignored] };
}

/**
 * Of conversations with several answers each is an example, but where tools are called: those are learnt whole. Which
 * are held out is told by the rows.
 */
async function examplesIn({ folder, trainFile, rows, view }: Project): Promise<Examples> {
  const train = trainRows(rows.rows, view);
  if (view.text("dataset_type") !== "sft" || rows.answers === rows.rows || rows.hasCalls)
    return { train, held: rows.rows - train };
  if (train === rows.rows) return { train: rows.answers, held: 0 };
  const { examplesOf } = await import("./project-dataset.ts");
  const learnt = await examplesOf({ path: resolve(folder, trainFile), kind: "sft", take: train });
  return { train: learnt, held: rows.answers - learnt };
}
