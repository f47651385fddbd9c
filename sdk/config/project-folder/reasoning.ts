import type { CatalogueEntry } from "./catalogue.ts";
import type { REASONING_MODES } from "./config-schema.ts";

export type ReasoningMode = (typeof REASONING_MODES)[number];

/** What a mode comes to with one kind of model. */
export type ReasoningMeaning =
  | { kind: "default" }
  | { kind: "switch"; on: boolean }
  | { kind: "effort"; effort: "low" | "medium" | "high" }
  | { kind: "always" }
  /** The model cannot do this; `why` says so. */
  | { kind: "refused"; severity: "error" | "warning"; why: string; hint: string };

const OFF = ["disabled", "none"];
const EFFORTS = ["low", "medium", "high"];

/** The meaning of `rollout.reasoning_mode` for a model. */
export function reasoningMeaning(
  mode: ReasoningMode | null,
  kind: CatalogueEntry["reasoning"],
): ReasoningMeaning {
  if (mode === null) return { kind: "default" };
  const isOff = OFF.includes(mode);
  switch (kind) {
    case "hybrid":
      if (isOff) return { kind: "switch", on: false };
      if (EFFORTS.includes(mode)) return { kind: "switch", on: true };
      return refused(
        "error",
        `${mode} is no mode of a model that only thinks or does not`,
        "Write high, or disabled.",
      );
    case "effort":
      if (EFFORTS.includes(mode)) return { kind: "effort", effort: mode as "low" };
      if (isOff)
        return refused("warning", "this model always thinks; it thinks least with low", "Write low.");
      return refused("error", `${mode} is no effort of this model`, "Write low, medium or high.");
    case "always":
      if (isOff) return refused("error", "this model always thinks", "Remove it, or take another model.");
      return { kind: "always" };
    case "none":
      if (isOff) return { kind: "default" };
      return refused(
        "warning",
        "this model does not think by itself: the mode changes nothing",
        "Remove it.",
      );
  }
}

/** Chat templates that have another word for it than most. */
const SWITCHES: Readonly<Record<string, string>> = { deepseek: "thinking", granite: "thinking" };

/** What the chat template of a model's family is given for a meaning. */
export function templateKwargs(
  meaning: ReasoningMeaning,
  family: string | undefined,
): Record<string, unknown> {
  if (meaning.kind === "effort") return { reasoning_effort: meaning.effort };
  if (meaning.kind !== "switch") return {};
  const name = Object.hasOwn(SWITCHES, family ?? "") ? SWITCHES[family ?? ""] : undefined;
  return { [name ?? "enable_thinking"]: meaning.on };
}

function refused(severity: "error" | "warning", why: string, hint: string): ReasoningMeaning {
  return { kind: "refused", severity, why, hint };
}
