import type { GrpoAlgorithm } from "../../../sdk/schema/grpo-algorithm.ts";
import { isKnown } from "../statistics.ts";
import { groupAdvantages } from "./grpo.ts";
import { relativeAdvantages } from "./max-rl.ts";
import { leaveOneOut } from "./rloo.ts";

type Rewards = readonly (number | undefined)[];

/**
 * How much each sample of a step is to be learnt: `undefined` for one without a verdict, and for all of a group, or of
 * the step, that tells nothing apart. Groups are the answers to a prompt each, and the result is in their order.
 */
export function advantagesOf(
  { advantage, normalizeStd, advantageScale }: GrpoAlgorithm,
  groups: readonly Rewards[],
): (number | undefined)[] {
  const estimated = estimate(advantage, normalizeStd, groups);
  if (advantage === "gae") return estimated;
  return estimated.map((value) => (value === undefined ? undefined : advantageScale * value));
}

function estimate(
  advantage: GrpoAlgorithm["advantage"],
  normalizeStd: boolean,
  groups: readonly Rewards[],
): (number | undefined)[] {
  switch (advantage) {
    case "grpo":
      return groups.flatMap((group) => groupAdvantages(group, normalizeStd));
    case "rloo":
      return groups.flatMap(leaveOneOut);
    case "max_rl":
      return groups.flatMap(relativeAdvantages);
    // What the critic expected comes off later, token by token; see critic-step.ts.
    case "gae":
      return groups.flat().map((reward) => (isKnown(reward) ? reward : undefined));
    // REINFORCE with the step's mean as baseline (Williams 1992; arXiv:2501.03262, eq. 8): the step is one group.
    case "reinforce":
      return groupAdvantages(groups.flat(), normalizeStd);
  }
}
