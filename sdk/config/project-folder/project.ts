import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { folderCatalogue } from "./catalogue-file.ts";
import { type Catalogue, factsOf } from "./catalogue.ts";
import { checkConfig } from "./check-config.ts";
import { checkRows, type CheckedRows } from "./check-rows.ts";
import { codeFinding } from "./code-facts.ts";
import { codeRules, fileFindings } from "./code-rules.ts";
import { firstOfEachKind } from "./collector.ts";
import { type ConfigDocument, located } from "./config-document.ts";
import { readConfigFile } from "./config-file.ts";
import type { DatasetType, ProjectConfig } from "./config-schema.ts";
import type { ConfigView } from "./config-view.ts";
import { type Finding, inReadingOrder, type Remark } from "./finding.ts";
import { isInSandbox } from "./mcp-rules.ts";
import { type ProjectCode, projectCode } from "./project-code.ts";
import { readText } from "./read-text.ts";
import { requirementFindings } from "./requirements.ts";
import type { RowContext } from "./row-context.ts";
import { secretFindings } from "./secrets.ts";
import { sizeRules } from "./size-rules.ts";

/** Of a row that is learnt from as it stands. */
const SFT_WINDOW = 32_768;

/** A project folder, read and checked as a whole. */
export interface Project {
  folder: string;
  /** Absent while config.yml does not fit. */
  config?: ProjectConfig | undefined;
  document?: ConfigDocument | undefined;
  view: ConfigView;
  catalogue: Catalogue;
  rewards: ProjectCode;
  tools: ProjectCode;
  rows: CheckedRows;
  trainFile: string;
  findings: Finding[];
}

export interface ReadProjectParams {
  signal?: AbortSignal | undefined;
  /** Where secrets are looked for beside .env. Default: nowhere. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Whether it is to be trained: then there must be a batch of rows. "later": that is told, and in no way. Default true. */
  isTrained?: boolean | "later" | undefined;
  /** Changes the configuration before it is checked: overrides, another model. */
  change?: (document: ConfigDocument, catalogue: Catalogue) => Finding[];
}

/** Reads config.yml, the code and every row. Never throws for what is wrong in them: that is in `findings`. */
export async function readProject(
  dir: string,
  params: ReadProjectParams = {},
): Promise<Project | { findings: Finding[] }> {
  const folder = resolve(dir);
  const { document, findings } = await readConfigFile(folder);
  if (!document) return { findings };
  const { catalogue, findings: ofCatalogue } = await folderCatalogue(folder);
  const changed = params.change?.(document, catalogue) ?? [];
  const { config, view, findings: ofConfig } = checkConfig(document, folder, catalogue);
  const [rewards, tools] = await Promise.all([projectCode(folder, "reward"), projectCode(folder, "tool")]);
  const trainFile = view.text("data.train_file") ?? "train.jsonl";
  const context = rowContext(folder, view, catalogue, rewards, tools);
  const path = resolve(folder, trainFile);
  const rows = await checkRows({ path, file: trainFile, context, signal: params.signal });
  const remarks = [
    ...codeRules(view, catalogue, tools),
    ...(rows.rows > 0 && params.isTrained !== false
      ? sizeRules(rows.rows, rows.hasCalls ? rows.rows : rows.answers, view).map((remark): Remark =>
          params.isTrained === "later" ? { ...remark, severity: "warning" } : remark,
        )
      : []),
  ];
  const all = firstOfEachKind([
    ...findings,
    ...ofCatalogue,
    ...changed,
    ...ofConfig,
    ...remarks.map((remark) => located(document, remark)),
    ...fileFindings(folder, view, rewards),
    ...rewards.findings,
    ...tools.findings,
    ...requirements(folder),
    ...secretFindings(folder, view, params.environment ?? {}, document),
  ]);
  const order = [document.file, trainFile, ...rewards.files, ...tools.files];
  return {
    folder,
    config,
    document,
    view,
    catalogue,
    rewards,
    tools,
    rows,
    trainFile,
    findings: inReadingOrder([...all, ...rows.findings], order),
  };
}

function rowContext(
  folder: string,
  view: ConfigView,
  catalogue: Catalogue,
  rewards: ProjectCode,
  tools: ProjectCode,
): RowContext {
  const kind = (view.text("dataset_type") ?? "rl") as DatasetType;
  const servers = view.texts("rollout.mcp_url");
  const isSampled = kind === "rl" || kind === "distill";
  const models = view.texts("model.path").map(({ value }) => value);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return {
    kind,
    rewards: rewards.items,
    rewardFiles: rewards.files.join(" or ") || "rewards.ts",
    // No file at all: every name is unknown. A file that cannot be read: none is.
    tools: tools.files.length === 0 ? new Map() : tools.items,
    toolFiles: tools.files.join(" or ") || "tools.ts or tools.py (there is neither)",
    hasMcp: servers.length > 0,
    isMcpInSandbox: isSampled && servers.some(({ value }) => isInSandbox(value)),
    blindModels: models.filter((name) => factsOf(catalogue, name)?.vision === false),
    dockerfiles: new Set(names.filter((name) => name.startsWith("Dockerfile."))),
    window: isSampled ? (view.number("rollout.max_context_window") ?? SFT_WINDOW) : SFT_WINDOW,
    isMath: rewards.isMath,
    hasTypeScript: rewards.hasTypeScript,
  };
}

function requirements(folder: string): Finding[] {
  const file = "requirements.txt";
  const path = join(folder, file);
  if (!existsSync(path)) return [];
  const read = readText(path);
  if ("text" in read) return requirementFindings(read.text, file);
  return [
    codeFinding("requirements_invalid", file, undefined, "", read.fault, "Write name==1.2.3, one a line."),
  ];
}
