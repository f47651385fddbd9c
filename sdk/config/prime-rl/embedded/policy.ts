import type { GrpoParams } from "../../../grpo-params.ts";
import type { RlConfig } from "../rules/configs.ts";
import type { Notes } from "./plan.ts";

type PolicyParams = Pick<
  GrpoParams,
  | "advantage"
  | "normalizeStd"
  | "advantageScale"
  | "loss"
  | "maskLow"
  | "maskHigh"
  | "driftCoef"
  | "normalizer"
  | "lengthPenalty"
>;

/**
 * `trainer.loss` and `orchestrator.algo` as settings of a recipe. Both losses leave out tokens that have moved too far,
 * hold the policy near the one that sampled by the squared log-ratio, and are divided by the tokens of the step; custom
 * losses are refused by the table of settings.
 */
export function policyOf({
  trainer,
  orchestrator,
}: Pick<RlConfig, "trainer" | "orchestrator">): PolicyParams {
  return { ...lossOf(trainer.loss), ...advantageOf(orchestrator.algo), normalizer: "token" };
}

function lossOf(loss: RlConfig["trainer"]["loss"]): PolicyParams {
  if (loss.type === "custom") return {};
  const shared = { advantageScale: loss.adv_tau, driftCoef: loss.kl_tau };
  if (loss.type === "ipo") return { ...shared, loss: "ipo", maskHigh: loss.ipo_threshold };
  return { ...shared, loss: "dppo", maskLow: loss.dppo_mask_low, maskHigh: loss.dppo_mask_high };
}

/** grpo here is the reward minus the group's mean, without a division. */
function advantageOf(algo: RlConfig["orchestrator"]["algo"]): PolicyParams {
  if (algo.type === "max_rl") return { advantage: "max_rl" };
  const penalty = algo.type === "grpo" ? algo.length_penalty : null;
  return {
    advantage: "grpo",
    normalizeStd: false,
    ...(penalty !== null && {
      lengthPenalty: {
        outputTokens: penalty.num_output_tokens_weight,
        inputTokens: penalty.num_input_tokens_weight,
        turns: penalty.num_turns_weight,
      },
    }),
  };
}

/** What the embedded engine has an estimator for. */
export function refuseAlgo({ orchestrator: { algo } }: Pick<RlConfig, "orchestrator">, notes: Notes): void {
  if (algo.type === "grpo" || algo.type === "max_rl" || algo.type === "opd") return;
  notes.refuse(
    "orchestrator.algo.type",
    `The embedded engine has grpo, max_rl and opd, not ${algo.type}.`,
    "Use grpo or max_rl, or a GPU host.",
  );
}
