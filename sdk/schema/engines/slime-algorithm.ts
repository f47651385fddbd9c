import type { GrpoAlgorithm } from "../grpo-algorithm.ts";
import type { RunSpec } from "../run-spec.ts";
import type { EngineFault } from "./given-options.ts";

/** Terms that are not handed to slime, and what they are where nobody asks for them. */
const PLAIN: Partial<GrpoAlgorithm> = {
  advantage: "grpo",
  advantageScale: 1,
  loss: "ppo",
  driftCoef: 0,
  ratio: "token",
  klEstimator: "k3",
  klIn: "loss",
  entropyCoef: 0,
  importanceCap: undefined,
  dropTruncated: false,
  overlongTokens: undefined,
  lengthPenalty: undefined,
  maxExtraPrompts: 0,
  maxOffPolicySteps: 0,
};

/** Terms of an algorithm that the embedded engine has and that would be lost on the way to slime. */
export function slimeAlgorithmFaults({ algorithm }: Pick<RunSpec, "algorithm">): EngineFault[] {
  if (algorithm.kind !== "grpo") return [];
  const lost = Object.entries(PLAIN).filter(
    ([name, plain]) => algorithm[name as keyof GrpoAlgorithm] !== plain,
  );
  const faults = lost.map(([name]) => name);
  if (algorithm.normalizer === "constant") faults.push("normalizer");
  return faults.map((name) => ({
    where: `algorithm.${name}`,
    message: "is a term of the embedded engine, which is not handed to slime",
    hint: "Leave it out, or give slime's own option in slime.flags.",
  }));
}
