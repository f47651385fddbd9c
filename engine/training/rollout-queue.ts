import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Played } from "./play-step.ts";

const FILE = "rollouts.json";

/** What was sampled for steps that are not learnt yet. */
export interface RolloutQueue {
  /**
   * What there is for a step to learn from: sampled now, or as many steps ago as the lag says. What later steps within
   * the lag will need and nobody sampled yet is sampled now.
   */
  of(step: number, play: (step: number) => Promise<Played>): Promise<Played>;
  /** Writes what waits into a checkpoint's `trainer/`; nothing where nothing waits. */
  save(dir: string): Promise<void>;
}

export interface RolloutQueueParams {
  /** Steps between sampling and learning. */
  lag: number;
  /** The last step there is: none is sampled beyond. */
  lastStep: number;
  /** `trainer/` of the checkpoint of this run that it goes on from. */
  resumeDir?: string | undefined;
}

/**
 * A fixed distance between the policy that samples and the one that learns: a step learns from answers of the weights
 * `lag` steps back, or of the first where there are none so far back. It is counted in steps and never in time, so equal
 * runs stay equal, and what waits goes into checkpoints, so a resumed run learns what the whole run learnt.
 */
export async function openRolloutQueue({
  lag,
  lastStep,
  resumeDir,
}: RolloutQueueParams): Promise<RolloutQueue> {
  const waiting = new Map(lag > 0 && resumeDir !== undefined ? await read(join(resumeDir, FILE)) : []);
  return {
    async of(step, play) {
      for (let each = step; each <= Math.min(step + lag, lastStep); each++)
        if (!waiting.has(each)) waiting.set(each, await play(each));
      const played = waiting.get(step);
      if (played === undefined) throw new RangeError(`Step ${step} comes after the last, ${lastStep}.`);
      waiting.delete(step);
      return played;
    },
    async save(dir) {
      if (waiting.size === 0) return;
      await writeFile(join(dir, FILE), JSON.stringify([...waiting]));
    },
  };
}

async function read(file: string): Promise<[step: number, Played][]> {
  try {
    // Written by this very file, and its hash was checked when it was fetched.
    return JSON.parse(await readFile(file, "utf8")) as [number, Played][];
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new SpotterError("checkpoint_mismatch", `trainer/${FILE} of the checkpoint cannot be read.`, {
      where: `trainer/${FILE}`,
      hint: 'Start a run from it with mode "weights".',
      cause,
    });
  }
}
