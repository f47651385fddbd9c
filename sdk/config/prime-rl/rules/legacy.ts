import type { Draft, Path } from "../types.ts";
import { isTable } from "../walk.ts";

/** The settings' former names and places, before anything else looks at the tree. `base` is where they would stand. */
export function renameOrchestrator(draft: Draft, base: Path): void {
  moveIntoTrain(draft, base, "env");
  moveIntoTrain(draft, base, "sampling");
  for (const list of [
    [...base, "train", "env"],
    [...base, "eval", "env"],
  ]) {
    const environments = draft.get(list);
    if (Array.isArray(environments)) environments.forEach((_, index) => renamePool(draft, [...list, index]));
  }
}

/** `[[orchestrator.env]]` and `[orchestrator.sampling]` are of `train`. */
function moveIntoTrain(draft: Draft, base: Path, key: "env" | "sampling"): void {
  const from = [...base, key];
  const to = [...base, "train", key];
  if (!draft.has(from)) return;
  const [old, now] = [from.join("."), to.join(".")];
  if (draft.has(to)) {
    draft.report({
      path: from,
      message: `${old} is the former name of ${now}, and both are set.`,
      hint: `Put all of it into ${now}.`,
    });
  } else {
    draft.report({
      path: from,
      severity: "warning",
      message: `${old} is now ${now}.`,
      hint: `Rename it; the old name still works.`,
    });
    copy(draft, from, to);
  }
  draft.remove(from);
}

/** Settings that were renamed while they stood at a former place. */
const RENAMED: Readonly<Record<string, string>> = {
  max_tokens: "max_completion_tokens",
  rollouts_per_example: "group_size",
};
/** Tables whose keys are not settings. */
const FREE = new Set(["args", "extra_body", "extra_env_kwargs", "taskset", "harness"]);

/** Value by value, so that each keeps its place in its file. */
function copy(draft: Draft, from: Path, to: Path): void {
  const value = draft.get(from);
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : isTable(value)
      ? Object.entries(value)
      : [];
  if (entries.length === 0 || FREE.has(String(from.at(-1))))
    draft.set(to, value, draft.originOf(from) ?? { kind: "default" });
  for (const [step] of FREE.has(String(from.at(-1))) ? [] : entries)
    copy(draft, [...from, step], [...to, RENAMED[step] ?? step]);
}

/** `num_workers = 3` is a static pool of three; "auto" is the pool that is there anyway. */
function renamePool(draft: Draft, environment: Path): void {
  const from = [...environment, "num_workers"];
  if (!draft.has(from)) return;
  const workers = draft.get(from);
  const origin = draft.originOf(from) ?? { kind: "default" };
  draft.report({
    path: from,
    severity: "warning",
    message: "num_workers is now pool.",
    hint:
      workers === "auto"
        ? "Remove it."
        : `Write pool = { type = "static", num_workers = ${String(workers)} }.`,
  });
  const pool = [...environment, "pool"];
  if (!draft.has(pool) && workers !== "auto")
    draft.set(pool, { type: "static", num_workers: workers }, origin);
  draft.remove(from);
}

/** `attn = "flash_attention_4"` is what users write, `fa4` what the trainer reads. */
export function renameAttention(draft: Draft, model: Path): void {
  const path = [...model, "attn"];
  if (draft.get(path) === "flash_attention_4")
    draft.set(path, "fa4", draft.originOf(path) ?? { kind: "default" });
}

/** Number of GPUs says nothing once whole nodes are counted. */
export function dropGpuCount(draft: Draft): void {
  const deployment = draft.get(["deployment"]);
  if (isTable(deployment) && deployment["type"] === "multi_node") draft.remove(["deployment", "num_gpus"]);
}
