import type { TrainerSpec } from "./trainer-spec.ts";

/** A setting that does not go with another, and why. */
export interface TrainerConflict {
  key: keyof TrainerSpec;
  message: string;
}

/** What of a trainer's settings does not go together. */
export function trainerConflicts(trainer: TrainerSpec): TrainerConflict[] {
  const { optimizer, momentum, nesterov, schedule, decaySteps, learningRate } = trainer;
  const tail = (decaySteps ?? 0) + trainer.warmupSteps;
  const conflicts: [boolean, keyof TrainerSpec, string][] = [
    [
      momentum !== undefined && optimizer !== "sgd" && optimizer !== "muon",
      "momentum",
      `is of sgd and muon; ${optimizer} has none`,
    ],
    [nesterov !== undefined && optimizer !== "sgd", "nesterov", `is of sgd; ${optimizer} has none`],
    [nesterov === true && momentum === 0, "nesterov", "looks ahead along the momentum, which is 0"],
    [
      decaySteps !== undefined && schedule !== "linear",
      "decaySteps",
      `is of the linear schedule; ${schedule} has none`,
    ],
    [
      decaySteps !== undefined && tail > trainer.steps,
      "decaySteps",
      `and warmupSteps are ${tail} together, more than the ${trainer.steps} steps`,
    ],
    [
      (trainer.minLearningRate ?? 0) > learningRate,
      "minLearningRate",
      `must be at most learningRate, which is ${learningRate}`,
    ],
  ];
  return conflicts.flatMap(([applies, key, message]) => (applies ? [{ key, message }] : []));
}
