import type { PlannedSpec } from "../../../../sdk/schema/engines/slime-neutral.ts";
import type { CheckedSpec } from "../../../../sdk/schema/engines/slime-check.ts";
import { slimeSettings, type SlimeSettings } from "../../../../sdk/schema/engines/slime-settings.ts";
import { runSpec, type RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import { slimeParts } from "../../../../sdk/slime-recipe.ts";

export const SHA = "0".repeat(64);

/** A run on slime as the control plane has it: ten steps of GRPO, but for what is told otherwise. */
export function planned(
  changes: Partial<RunSpecInput> = {},
  slime: SlimeSettings = {},
  hosts = { gpus: 8, nodes: 1 },
): PlannedSpec & CheckedSpec {
  const spec = runSpec.parse({
    kind: "rl",
    model: { name: "Qwen/Qwen3-4B" },
    dataset: { sha256: SHA, rows: 10 },
    rewards: { code: { sha256: SHA } },
    algorithm: { kind: "grpo" },
    trainer: { steps: 10 },
    ...changes,
  });
  return { ...spec, slime: slimeSettings.parse(slime), ...hosts };
}

/** The same of `recipes.slime`, whose settings say what every recipe says. */
export function recipe(
  slime: SlimeSettings,
  changes: Partial<RunSpecInput> = {},
  hosts = { gpus: 8, nodes: 1 },
) {
  return planned({ ...slimeParts(slime), ...changes }, slime, hosts);
}

/** The words after an option until the next one. */
export function valueOf(argv: readonly string[], option: string): string | undefined {
  const at = argv.lastIndexOf(`--${option}`);
  if (at < 0) return undefined;
  const end = argv.findIndex((word, index) => index > at && word.startsWith("--"));
  return argv.slice(at + 1, end < 0 ? undefined : end).join(" ");
}
