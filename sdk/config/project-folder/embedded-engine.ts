import type { ProjectConfig } from "./config-schema.ts";
import type { Path, Remark } from "./finding.ts";
import { aliasOf } from "./plan.ts";
import type { Project } from "./project.ts";

/** Architectures that the embedded engine does not compute: mixtures of experts, and those that see. */
const OTHER_ARCHITECTURE = /-A\d+B\b|-VL-|gpt-oss|DeepSeek|Kimi/i;

/** One thing that the embedded engine cannot do, and the nearest that it can. */
interface Limit {
  applies: (config: ProjectConfig, project: Project, model: string) => boolean;
  path: Path;
  message: string;
  hint: string;
}

/** Kind, loss, estimator, tools and rows against the embedded engine: what is not here, it does. */
const LIMITS: readonly Limit[] = [
  {
    applies: (_, __, model) => OTHER_ARCHITECTURE.test(model),
    path: ["model", "path"],
    message: "the embedded engine computes Llama, Qwen2, Qwen3 and SmolLM without experts or eyes",
    hint: "Try the project with --model spotter/nano, or take a model such as Qwen/Qwen3-4B-Instruct-2507.",
  },
  {
    applies: (config) => isCompared(config) && config.data.group_size < 2 && estimatorOf(config) === "grpo",
    path: ["data", "group_size"],
    message: "is 1: a group of one has no advantage over itself",
    hint: "Write 2 or more, or adv_estimator: reinforce, which compares with the whole step.",
  },
  {
    applies: (config) =>
      isCompared(config) &&
      config.data.group_size * config.data.batch_size < 2 &&
      estimatorOf(config) === "reinforce",
    path: ["data", "batch_size"],
    message: "and group_size are 1: one answer has nothing to be compared with",
    hint: "Write 2 or more for one of them.",
  },
  {
    applies: ({ dataset_type: kind }, { rewards }) => kind === "rl" && isMixed(rewards),
    path: ["dataset_type"],
    message: "rewards are written in both TypeScript and Python, and only one of them judges here yet",
    hint: "Write all rewards in one language.",
  },
  {
    applies: (config, { tools }) => callsTools(config) && isMixed(tools),
    path: ["rollout"],
    message: "tools are written in both TypeScript and Python, and only one of them is asked here yet",
    hint: "Write all tools in one language.",
  },
  {
    applies: (config) => callsTools(config) && (config.rollout?.mcp_url ?? null) !== null,
    path: ["rollout", "mcp_url"],
    message: "MCP servers are not connected here yet",
    hint: "Write the tools in tools.ts.",
  },
  {
    applies: (config, { rows }) => isSampled(config) && rows.hasDocker,
    path: ["data", "train_file"],
    message: "rows name a container in docker, and none is started here yet",
    hint: "Leave docker out of the rows.",
  },
  {
    applies: (_, { rows }) => rows.hasImages,
    path: ["data", "train_file"],
    message: "rows hold images, which the embedded engine does not see",
    hint: "Leave the images out of the rows.",
  },
  {
    applies: ({ dataset_type: kind }, { rows }) => kind === "sft" && rows.otherAnswers !== undefined,
    path: ["data", "train_file"],
    message:
      "rows have answers in parts, or that nothing was said before; here texts and calls of tools are learnt",
    hint: "Write the content of answers as a text, after something of the user.",
  },
];

/** What of a project is Python that a run would start; one without the grant does not. */
const UNGRANTED: readonly Limit[] = [
  {
    applies: ({ dataset_type: kind }, { rewards }) => kind === "rl" && rewards.hasPython,
    path: ["dataset_type"],
    message: "rewards.py runs beside the trainer with your files and network in reach, and nobody allowed it",
    hint: "If you trust the code, add --allow-python; or write the rewards in rewards.ts.",
  },
  {
    applies: (config, { tools }) => callsTools(config) && tools.hasPython && (tools.items?.size ?? 0) > 0,
    path: ["rollout"],
    message: "tools.py runs beside the trainer with your files and network in reach, and nobody allowed it",
    hint: "If you trust the code, add --allow-python; or write the tools in tools.ts.",
  },
];

/** What of a project the embedded engine cannot do, or may not without `allowPython`, all of it. */
export function embeddedLimits(
  config: ProjectConfig,
  project: Project,
  model: string,
  { allowPython = false }: { allowPython?: boolean | undefined } = {},
): Remark[] {
  return [...LIMITS, ...(allowPython ? [] : UNGRANTED)]
    .filter(({ applies }) => applies(config, project, model))
    .map(({ path, message, hint }) => ({ code: "engine_unsupported", path, message, hint }));
}

/** What is read and kept, and changes nothing here yet; and what is done in another way. */
export function embeddedIgnores({ view, rows }: Project): Remark[] {
  const apart: Remark[] =
    rows.answers > rows.rows && !rows.hasCalls && view.text("dataset_type") === "sft"
      ? [
          {
            code: "answers_apart",
            severity: "warning",
            path: ["data", "batch_size"],
            message: `counts answers: the ${rows.rows} conversations have ${rows.answers}, each learnt with all that was said before it`,
            hint: "Nothing has to change.",
          },
        ]
      : [];
  return [...apart, ...otherName(view)];
}

/** A name with blanks is none to chat with. */
function otherName(view: Project["view"]): Remark[] {
  const name = view.text("model.name");
  const path = view.text("model.path") ?? "";
  const alias = name === undefined ? undefined : aliasOf({ name, path }, path);
  if (name === undefined || alias === name) return [];
  const what = alias === undefined ? "and none is left of it without them" : `and it is called ${alias}`;
  return [
    {
      code: "not_applied",
      severity: "warning",
      path: ["model", "name"],
      message: `models are chatted with by letters, digits, dots, dashes and underscores, ${what}`,
      hint: "Write a name of these.",
    },
  ];
}

function isMixed({ hasPython, hasTypeScript, items }: Project["rewards"]): boolean {
  return hasPython && hasTypeScript && (items?.size ?? 0) > 0;
}

/** A distillation leaves its tools alone unless it is agentic. */
function callsTools(config: ProjectConfig): boolean {
  return isSampled(config) && (config.dataset_type === "rl" || config.teacher?.agentic === true);
}

function isCompared({ dataset_type: kind }: ProjectConfig): boolean {
  return kind === "rl";
}

function estimatorOf({ algorithm }: ProjectConfig): string {
  return algorithm?.adv_estimator ?? "grpo";
}

function isSampled({ dataset_type: kind }: ProjectConfig): boolean {
  return kind === "rl" || kind === "distill";
}
