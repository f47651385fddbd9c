import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import type { EnvironmentSetup, RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { datasetHead } from "../datasets/datasets.ts";
import { callMembers, environmentError, openEnvironment } from "../user-code/environments.ts";
import { preflightRewards } from "../user-code/preflight.ts";
import { openTools } from "../user-code/tools.ts";
import { checkRewards } from "./check-rewards.ts";

/** Of each environment; their rows come in turns. */
const PREFLIGHT_ROWS = 8;

/**
 * Tries a run's rewards, tools and environments on the first rows of its dataset, before anything costs money.
 * Throws what is broken; resolves to what only looks odd.
 */
export async function checkUserCode(control: Control, spec: RunSpec): Promise<string[]> {
  if (spec.tools) await openTools(control, spec.tools);
  const { environments } = spec;
  if (environments === undefined)
    return spec.rewards ? checkRewards(control, spec.rewards, spec.dataset.sha256) : [];
  const rows = await datasetHead(control, spec.dataset.sha256, PREFLIGHT_ROWS * (environments.length + 1));
  const own = rows.filter(({ environment }) => environment === undefined).slice(0, PREFLIGHT_ROWS);
  const warnings = await Promise.all([
    ...environments.map((setup) =>
      checkEnvironment(
        control,
        setup,
        rows.filter(({ environment }) => environment === setup.name).slice(0, PREFLIGHT_ROWS),
      ),
    ),
    spec.rewards && own.length > 0
      ? preflightRewards(control, spec.rewards, own).then((report) => report.warnings)
      : [],
  ]);
  return warnings.flat();
}

/** Begins episodes, and judges answers to them that break careless rewards. */
async function checkEnvironment(
  control: Control,
  setup: EnvironmentSetup,
  rows: readonly DatasetRow[],
): Promise<string[]> {
  const { handle, file } = await openEnvironment(control, setup);
  if (rows.length === 0) return [];
  const calls = rows.map(({ row }) => ({
    name: `${setup.export}/setup`,
    input: row,
    timeoutMs: setup.timeoutMs,
  }));
  const begun = await callMembers(control, handle, calls);
  const prompts = begun.map((result, index) => {
    if ("error" in result)
      throw environmentError(result.error, `setup of "${setup.export}", task ${index + 1}`, file);
    return (result.value as { messages: ChatMessage[] }).messages as DatasetRow["prompt"];
  });
  const { code, timeoutMs, export: environment } = setup;
  const { warnings } = await preflightRewards(
    control,
    { code, timeoutMs, environment, maxMissingShare: 0 },
    rows.map((row, index) => ({ ...row, prompt: prompts[index] ?? [] })),
  );
  return warnings;
}
