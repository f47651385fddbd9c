import { modelNameKind, CATALOGUE } from "../catalogue.ts";
import { located } from "../config-document.ts";
import { type ProjectConfig, rolloutDefaults } from "../config-schema.ts";
import { type Finding, hasErrors, type Remark } from "../finding.ts";
import { type ResolvedProject, resolveProject } from "../resolve-project.ts";
import type { PlaySettings } from "./conversation.ts";

type ValidProject = NonNullable<ResolvedProject["project"]>;

export interface PrepareTestParams {
  overrides?: readonly string[];
  /** What `--model` says. */
  model?: string | undefined;
  environment?: Readonly<Record<string, string | undefined>>;
  /** Whether rewards.py and tools.py may run. Default false. */
  allowPython?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface PreparedTest {
  /** Absent where there is an error among the findings. */
  project?: ValidProject;
  settings: PlaySettings;
  /** Of each conversation. */
  timeoutMs: number;
  chatTemplateKwargs: Record<string, unknown>;
  findings: Finding[];
}

/** Of a row that is learnt from as it stands. */
const SFT_WINDOW = 32_768;
const HOUR_MS = 3_600_000;

/** Reads a project and what of it a test needs. Never throws for what is wrong in it: that is in `findings`. */
export async function prepareTest(dir: string, params: PrepareTestParams = {}): Promise<PreparedTest> {
  const { model, ...rest } = params;
  const { project, runs, findings } = await resolveProject(dir, {
    ...rest,
    isTrained: "later",
    // A model that others serve takes what the project asks for; ours have limits of their own.
    model: model !== undefined && isOurs(model) ? model : undefined,
  });
  const settings: PlaySettings = {
    maxTurns: 1,
    terminationPolicy: "last_tool",
    contextTokens: SFT_WINDOW,
    includeThinking: true,
  };
  const nothing = { settings, timeoutMs: HOUR_MS, chatTemplateKwargs: {} };
  if (!project?.document) return { ...nothing, findings };
  const { document, config } = project;
  const own = remarksOf(project, params.allowPython ?? false).map((remark) => located(document, remark));
  const all = [...findings.filter((each) => !isAnswered(each)), ...own];
  if (hasErrors(own)) return { ...nothing, findings: all };
  if (!isSampled(config)) return { ...nothing, project, findings: all };
  const rollout = config.rollout ?? rolloutDefaults;
  const planned = runs[0]?.plan.spec.rollout as
    { contextTokens?: number; chatTemplateKwargs?: Record<string, unknown> } | undefined;
  return {
    project,
    settings: {
      maxTurns: rollout.max_turns,
      terminationPolicy: rollout.termination_policy,
      contextTokens: planned?.contextTokens ?? rollout.max_context_window,
      maxToolTokens: rollout.max_tool_response ?? undefined,
      includeThinking: rollout.include_thinking,
    },
    timeoutMs: rollout.rollout_timeout === null ? HOUR_MS : rollout.rollout_timeout * 1_000,
    chatTemplateKwargs: planned?.chatTemplateKwargs ?? {},
    findings: all,
  };
}

function isOurs(model: string): boolean {
  return ["catalogue", "folder"].includes(modelNameKind(model, CATALOGUE));
}

/** What a test has nothing to do with. */
function isAnswered({ code, path }: Finding): boolean {
  return code === "not_applied" && path === "model.name";
}

function isSampled({ dataset_type: kind }: ProjectConfig): boolean {
  return kind === "rl" || kind === "distill";
}

/** What of a project cannot be tried. */
function remarksOf({ config, rewards, tools, rows }: ValidProject, allowPython: boolean): Remark[] {
  const remarks: Remark[] = [];
  const refuse = (path: string, message: string, hint: string) =>
    remarks.push({ code: "engine_unsupported", path: path.split("."), message, hint });
  if (config.dataset_type === "midtrain")
    refuse(
      "dataset_type",
      "midtrain has bare texts, and no prompt that a model could answer",
      "Run `spotter validate`.",
    );
  for (const [word, path, isUsed] of [
    ["rewards", "dataset_type", config.dataset_type === "rl"],
    ["tools", "rollout", isSampled(config)],
  ] as const) {
    const { hasPython, hasTypeScript, items } = word === "rewards" ? rewards : tools;
    if (!isUsed || !hasPython || (items?.size ?? 0) === 0) continue;
    if (hasTypeScript)
      refuse(path, `${word} are written in both TypeScript and Python`, `Write all ${word} in one language.`);
    else if (!allowPython)
      refuse(
        path,
        `${word}.py is Python, which runs with your files and network in reach, and nobody allowed it`,
        "If you trust the code, pass --allow-python.",
      );
  }
  if (isSampled(config) && (config.rollout?.mcp_url ?? null) !== null)
    refuse("rollout.mcp_url", "MCP servers are not connected here yet", "Write the tools in tools.ts.");
  if (rows.hasDocker)
    remarks.push({
      code: "not_applied",
      severity: "warning",
      path: ["data", "train_file"],
      message: "rows name a container in docker, and a test starts none",
      hint: "Rewards and tools in TypeScript run without.",
    });
  return remarks;
}
