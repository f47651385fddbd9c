import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { Verdict } from "../../sdk/schema/rollout.ts";
import type { RlStepParams } from "./rl-step.ts";
import { judgeAll, sampleAll, type Sample, type SampleRequest } from "./samples.ts";
import { seedOf } from "./seeds.ts";
import { knownOf, tellApart } from "./statistics.ts";

/** What a step has to learn from. */
export interface Played {
  samples: Sample[];
  /** One a sample. */
  verdicts: Verdict[];
  /** Prompts that were sampled in place of others. */
  extraPrompts: number;
  generateMs: number;
  scoreMs: number;
}

/**
 * Samples a group of answers to each prompt and has them judged. Where answers to a prompt all score the same, another
 * prompt is sampled in its place, while there are `extraPrompts` (arXiv:2503.14476, section 3.2): which ones hangs on the
 * seed, the step and the scores, and on no clock.
 */
export async function playStep(params: RlStepParams): Promise<Played> {
  const { extraPrompts = [], spec } = params;
  const played: Played = { samples: [], verdicts: [], extraPrompts: 0, generateMs: 0, scoreMs: 0 };
  let next: readonly DatasetRow[] = params.prompts;
  while (next.length > 0) {
    await playRound(params, next, played);
    const missing = spec.rollout.promptsPerStep - tellingGroups(played, spec.rollout.samplesPerPrompt);
    next = extraPrompts.slice(played.extraPrompts, played.extraPrompts + missing);
    played.extraPrompts += next.length;
  }
  return played;
}

async function playRound(
  params: RlStepParams,
  prompts: readonly DatasetRow[],
  played: Played,
): Promise<void> {
  const { spec, progress, step, now } = params;
  const startedAt = now();
  progress.phase("generate", step, spec.trainer.steps);
  const samples = await sampleAll(
    { ...params, settings: spec.rollout },
    requestsOf(params, prompts, played.samples.length),
  );
  const sampledAt = now();
  progress.phase("score", step, spec.trainer.steps);
  const verdicts = await judgeAll(params.client, samples);
  played.samples.push(...samples);
  played.verdicts.push(...verdicts);
  played.generateMs += sampledAt - startedAt;
  played.scoreMs += now() - sampledAt;
}

function requestsOf(
  { spec, totalStep }: RlStepParams,
  prompts: readonly DatasetRow[],
  firstIndex: number,
): SampleRequest[] {
  const { samplesPerPrompt } = spec.rollout;
  return prompts.flatMap((row, place) =>
    Array.from({ length: samplesPerPrompt }, (_, sample) => {
      const index = firstIndex + place * samplesPerPrompt + sample;
      const group = Math.floor(index / samplesPerPrompt);
      return { index, group, row, seed: seedOf(spec.seed, "sample", totalStep, index) };
    }),
  );
}

function tellingGroups({ verdicts }: Played, size: number): number {
  return inGroups(verdicts, size).filter((group) => tellApart(knownOf(group.map(({ total }) => total))))
    .length;
}

/** Values in their order, so many at a time. */
export function inGroups<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, group) =>
    values.slice(group * size, (group + 1) * size),
  );
}
