import type { RewardSetup } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { datasetHead } from "../datasets/datasets.ts";
import { preflightRewards } from "../user-code/preflight.ts";

const PREFLIGHT_ROWS = 8;

/** Tries rewards on the first rows of a dataset. Throws what is broken; resolves to what only looks odd. */
export async function checkRewards(control: Control, setup: RewardSetup, sha256: string): Promise<string[]> {
  const rows = await datasetHead(control, sha256, PREFLIGHT_ROWS);
  return (await preflightRewards(control, setup, rows)).warnings;
}
