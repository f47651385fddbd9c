import { accessSync, constants } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { branchesOf, type Rollout } from "../../../schema/rollout.ts";
import type { Run } from "../../../run.ts";
import { makeFolder, outputError } from "../output-folder.ts";

/** One line of `token_exports/step_N/rank_0.jsonl`: a sequence as the trainer learned it. */
export interface ExportedSequence {
  step: number;
  env_name: string | null;
  token_ids: number[];
  /** True where the model wrote the token. */
  loss_mask: boolean[];
  /** As sampled; 0 where the mask is false. */
  inference_logprobs: number[];
  /** Per token; 0 where the mask is false. Null: the sequence was not learned from. */
  advantages: number[] | null;
  /** Null: no verdict. */
  reward: number | null;
}

/** One, or where thinking was taken out of the conversation one for each branch. */
export function exportedSequences(rollout: Rollout): ExportedSequence[] {
  const { step, environment = null, advantage, verdict } = rollout;
  return branchesOf(rollout).map(({ tokenIds, mask, logprobs }) => ({
    step,
    env_name: environment,
    token_ids: tokenIds,
    loss_mask: mask.map((each) => each === 1),
    inference_logprobs: logprobs,
    advantages: advantage === undefined ? null : mask.map((each) => each * advantage),
    reward: verdict.total ?? null,
  }));
}

const exportFolder = (outputDir: string) => join(outputDir, "token_exports");

/**
 * Makes the folder of the exports before anything is trained.
 *
 * @throws SpotterError `invalid_input` if nothing can be written there.
 */
export function prepareExports(outputDir: string): void {
  const folder = exportFolder(outputDir);
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw outputError("The token export", folder, error);
  }
}

/**
 * Writes the sequences of each step of a run below `outputDir` as they come, until it ends: one process trains, so
 * there is one rank. A file is there whole or not at all.
 */
export async function exportTokens(run: Run, outputDir: string, signal: AbortSignal): Promise<void> {
  for await (const { body } of run.events({ signal })) {
    if (body.type !== "rollouts") continue;
    const rollouts = await run.rollouts(body.step, { signal });
    await writeStep(join(exportFolder(outputDir), `step_${body.step}`), rollouts);
  }
}

async function writeStep(folder: string, rollouts: readonly Rollout[]): Promise<void> {
  const file = join(folder, "rank_0.jsonl");
  const text = rollouts
    .flatMap(exportedSequences)
    .map((each) => `${JSON.stringify(each)}\n`)
    .join("");
  try {
    makeFolder(folder);
    await writeFile(`${file}.part`, text);
    await rename(`${file}.part`, file);
  } catch (error) {
    throw outputError("The token export", folder, error);
  }
}
