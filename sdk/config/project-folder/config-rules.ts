import { type Catalogue, factsOf, looksLikeId, MAX_RANK, modelNameKind } from "./catalogue.ts";
import { MAX_CONCURRENCY } from "./config-schema.ts";
import type { ConfigView } from "./config-view.ts";
import type { Path, Remark } from "./finding.ts";
import { mcpRules } from "./mcp-rules.ts";
import { isNameHere, nearModel, noModelIn, unchecked, unknownModel } from "./model-names.ts";
import { type ReasoningMode, reasoningMeaning } from "./reasoning.ts";

/** Below, a model that thinks has no room to. */
const REASONING_WINDOW = 8_192;
/** Fewer tokens a turn than this hold no answer with a tool's result. */
const TOKENS_PER_TURN = 256;

export interface RuleContext {
  view: ConfigView;
  catalogue: Catalogue;
  /** Whether a folder with a model exists. */
  isModelFolder: (path: string) => boolean;
  /** Whether a value was put there by --model, --teacher or local_model. Default: none was. */
  isSubstitute?: (path: Path) => boolean;
}

type Rule = (context: RuleContext) => Remark[];

/** What depends on more than one key of config.yml, or on the catalogue. */
export function configRules(context: RuleContext): Remark[] {
  return RULES.flatMap((rule) => rule(context));
}

const RULES: readonly Rule[] = [
  concurrency,
  saveStep,
  modelNames,
  ranks,
  teacher,
  ignoredSections,
  reasoning,
  windows,
  mcpRules,
];

function concurrency({ view }: RuleContext): Remark[] {
  const batch = view.written("data.batch_size") ?? 0;
  const group = view.written("data.group_size") ?? 0;
  if (batch * group <= MAX_CONCURRENCY) return [];
  return [
    {
      code: "concurrency_exceeded",
      path: ["data", "batch_size"],
      message: `${batch} prompts times ${group} rollouts are ${batch * group} at once; ${MAX_CONCURRENCY} are the most`,
      hint: "Lower batch_size or group_size.",
    },
  ];
}

function saveStep({ view }: RuleContext): Remark[] {
  if (view.number("trainer.save_step") !== 0) return [];
  const hint = "Write -1 to save at the end only, or N to save every N steps as well.";
  const path = ["trainer", "save_step"];
  return [{ code: "save_step_zero", path, message: "is 0, which once meant the end of an epoch", hint }];
}

function modelNames({ view, catalogue, isModelFolder, isSubstitute }: RuleContext): Remark[] {
  return view.texts("model.path").flatMap(({ path, value }) => {
    const kind = modelNameKind(value, catalogue);
    if (isSubstitute?.(path) && isNameHere(value, kind)) return [unchecked(path, value, catalogue)];
    if (kind === "catalogue" || (kind === "folder" && isModelFolder(value))) return [];
    if (kind === "folder") return [{ ...noModelIn(value, path), code: "model_unknown" }];
    if (kind === "unknown") return [unknownModel(path, value, catalogue)];
    if (looksLikeId(value)) return [];
    const near = nearModel(value, catalogue);
    if (near !== undefined) return [unknownModel(path, value, catalogue)];
    return [unchecked(path, value, catalogue)];
  });
}

function ranks({ view, catalogue }: RuleContext): Remark[] {
  const rank = view.number("model.qlora_rank");
  if (rank === undefined) return [];
  const limits = view.texts("model.path").map(({ value }) => ({
    value,
    max: factsOf(catalogue, value)?.maxRank ?? MAX_RANK,
  }));
  return limits
    .filter(({ max }) => rank > max)
    .map(({ value, max }) => ({
      code: "rank_exceeded" as const,
      path: ["model", "qlora_rank"],
      message: `is ${rank}; ${value} takes ${max} at most`,
      hint: `Write ${Math.min(...limits.map((each) => each.max))} or less.`,
    }));
}

function teacher({ view, catalogue, isModelFolder, isSubstitute }: RuleContext): Remark[] {
  const kind = view.text("dataset_type");
  const name = view.text("teacher.path");
  const path = ["teacher", "path"];
  if (kind !== undefined && kind !== "distill" && view.has("teacher"))
    return [
      {
        code: "teacher_unexpected",
        path: ["teacher"],
        atKey: true,
        message: `a teacher has nothing to do in dataset_type ${kind}`,
        hint: "Remove the section, or write dataset_type: distill.",
      },
    ];
  if (kind === "distill" && !view.has("teacher"))
    return [
      {
        code: "teacher_missing",
        path: ["teacher"],
        message: "is missing: in dataset_type distill a teacher grades each token",
        hint: "Write a section teacher with path: Qwen/Qwen3-32B, or another larger model of the same family.",
      },
    ];
  if (name === undefined) return [];
  const nameKind = modelNameKind(name, catalogue);
  if (isSubstitute?.(path) && isNameHere(name, nameKind)) return [unchecked(path, name, catalogue)];
  const isKnown =
    nameKind === "catalogue" ||
    (nameKind === "folder" && isModelFolder(name)) ||
    (nameKind === "record" && looksLikeId(name));
  if (!isKnown) {
    const found = nameKind === "folder" ? noModelIn(name, path) : unknownModel(path, name, catalogue);
    return [{ ...found, code: "teacher_unsupported" }];
  }
  return view.texts("model.path").flatMap(({ value }) => teacherFit(value, name, path, catalogue));
}

function teacherFit(student: string, name: string, path: Path, catalogue: Catalogue): Remark[] {
  if (student === name) {
    const message = `is the student itself: it has nothing to teach`;
    return [{ code: "teacher_same", severity: "warning", path, message, hint: "Take a larger model." }];
  }
  const [own, other] = [factsOf(catalogue, student)?.family, factsOf(catalogue, name)?.family];
  if (own === undefined || other === undefined || own === other) return [];
  const message = `${name} (${other}) has another tokenizer than ${student} (${own}): its grades fit no token`;
  return [{ code: "teacher_unsupported", path, message, hint: `Take a teacher of the family ${own}.` }];
}

function ignoredSections({ view }: RuleContext): Remark[] {
  const kind = view.text("dataset_type");
  const ignored = kind === "sft" || kind === "midtrain" ? ["algorithm", "rollout"] : [];
  const sections = ignored
    .filter((key) => view.has(key))
    .map((key): Remark => ({
      code: "section_ignored",
      severity: "warning",
      path: [key],
      atKey: true,
      message: `has no effect in dataset_type ${kind}: nothing is sampled there`,
      hint: "Remove the section, or change dataset_type.",
    }));
  if ((kind === "rl" || kind === "distill") && (view.number("data.val_split") ?? 0) > 0)
    sections.push({
      code: "val_split_ignored",
      severity: "warning",
      path: ["data", "val_split"],
      message: `has no effect in dataset_type ${kind}: every row is a prompt to train on`,
      hint: "Remove it; `evals:` measures during a training.",
    });
  return sections;
}

function reasoning({ view, catalogue }: RuleContext): Remark[] {
  const mode = (view.get("rollout.reasoning_mode") ?? null) as ReasoningMode | null;
  const path = ["rollout", "reasoning_mode"];
  const remarks: Remark[] = [];
  let thinks = false;
  for (const { value } of view.texts("model.path")) {
    const kind = factsOf(catalogue, value)?.reasoning;
    if (kind === undefined) continue;
    const meaning = reasoningMeaning(mode, kind);
    if (meaning.kind === "refused") {
      const { severity, why, hint } = meaning;
      remarks.push({ code: "reasoning_unsupported", severity, path, message: `${value}: ${why}`, hint });
    }
    thinks ||= mode !== null && !["disabled", "none"].includes(mode) && kind !== "none";
  }
  const window = view.number("rollout.max_context_window") ?? REASONING_WINDOW;
  if (thinks && window < REASONING_WINDOW)
    remarks.push({
      code: "reasoning_window",
      severity: "warning",
      path: ["rollout", "max_context_window"],
      message: `is ${window}: a model that thinks fills that before it answers`,
      hint: "Write 8192 to 16384.",
    });
  return remarks;
}

function windows({ view, catalogue }: RuleContext): Remark[] {
  const window = view.number("rollout.max_context_window");
  if (window === undefined) return [];
  const path = ["rollout", "max_context_window"];
  // The default is cut to what the model reaches.
  const isWritten = view.has("rollout.max_context_window");
  const isSampled = ["rl", "distill"].includes(view.text("dataset_type") ?? "");
  const above = view
    .texts("model.path")
    .filter(
      ({ value }) => isSampled && isWritten && window > (factsOf(catalogue, value)?.context ?? Infinity),
    )
    .map(({ value }): Remark => ({
      code: "context_exceeded",
      path,
      message: `is ${window}; ${value} reaches ${factsOf(catalogue, value)?.context} tokens`,
      hint: `Write ${factsOf(catalogue, value)?.context} or less.`,
    }));
  const answer = view.number("rollout.max_tool_response") ?? 0;
  if (answer >= window)
    above.push({
      code: "tool_response_window",
      severity: "warning",
      path: ["rollout", "max_tool_response"],
      message: `is ${answer}: one tool's answer may fill all of the ${window} tokens`,
      hint: "Write a fraction of max_context_window.",
    });
  const turns = view.number("rollout.max_turns") ?? 1;
  if (turns < 4 || window / turns >= TOKENS_PER_TURN) return above;
  const message = `${turns} turns share ${window} tokens: ${Math.floor(window / turns)} for each, its tool result included`;
  return [
    ...above,
    { code: "turns_window", severity: "warning", path, message, hint: "Raise it, or lower max_turns." },
  ];
}
