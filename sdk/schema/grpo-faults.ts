import type { GrpoAlgorithm } from "./grpo-algorithm.ts";

/** Of a step. */
const MAX_SAMPLES = 65_536;

/** What of an algorithm and the rollouts it learns from does not go together, where in the run spec, and why. */
export function grpoFaults(
  { advantage, critic, loss, ratio, overlongTokens, maxExtraPrompts }: GrpoAlgorithm,
  rollout: { promptsPerStep: number; samplesPerPrompt: number; maxTurns: number; maxTokens: number },
): { path: string[]; message: string }[] {
  const samplesOf = (prompts: number) => prompts * rollout.samplesPerPrompt;
  const isGroup = rollout.samplesPerPrompt > 1;
  const faults: [applies: boolean, path: string[], message: string][] = [
    [
      !isGroup && advantage !== "reinforce" && advantage !== "gae",
      ["rollout", "samplesPerPrompt"],
      `must be at least 2 for ${advantage}: a group of one has no advantage; reinforce compares with the whole step`,
    ],
    [
      critic !== undefined && advantage !== "gae",
      ["algorithm", "critic"],
      `goes with advantage gae; ${advantage} has none`,
    ],
    [
      advantage === "reinforce" && rollout.promptsPerStep * rollout.samplesPerPrompt === 1,
      ["rollout", "promptsPerStep"],
      "must be at least 2 where there is one answer to each: one answer has nothing to be compared with",
    ],
    [
      ratio === "sequence" && loss !== "ppo" && loss !== "importance_sampling",
      ["algorithm", "ratio"],
      `of the sequence goes with ppo and importance_sampling; ${loss} looks at tokens`,
    ],
    [
      overlongTokens !== undefined && rollout.maxTurns > 1,
      ["algorithm", "overlongTokens"],
      "is about how long the one answer is, and there are several turns; use lengthPenalty",
    ],
    [
      overlongTokens !== undefined && overlongTokens > rollout.maxTokens,
      ["algorithm", "overlongTokens"],
      `must be at most maxTokens, which is ${rollout.maxTokens}`,
    ],
    [
      maxExtraPrompts > 0 && !isGroup,
      ["algorithm", "maxExtraPrompts"],
      "stands in for groups whose answers all score the same, and groups of one always do",
    ],
    [
      samplesOf(rollout.promptsPerStep) <= MAX_SAMPLES &&
        samplesOf(rollout.promptsPerStep + maxExtraPrompts) > MAX_SAMPLES,
      ["algorithm", "maxExtraPrompts"],
      `and promptsPerStep, times samplesPerPrompt, must be at most ${MAX_SAMPLES}: a step keeps all its samples in memory`,
    ],
  ];
  return faults.flatMap(([applies, path, message]) => (applies ? [{ path, message }] : []));
}
