import type { TrainerParams } from "../../../trainer-params.ts";
import type { TrainerConfig } from "../rules/configs.ts";
import type { Notes } from "./plan.ts";

type Optimizer = TrainerConfig["optim"];
type Scheduler = TrainerConfig["scheduler"];

/** A norm that no gradient reaches: the engine has no way not to clip. */
const NO_CLIPPING = 1e30;

/** `[optim]` in the words of a recipe. `at` is the path of the trainer. */
export function optimizerOf(notes: Notes, at: "trainer." | "", optim: Optimizer): Partial<TrainerParams> {
  if (!(optim.lr > 0))
    notes.refuse(
      `${at}optim.lr`,
      "Nothing is learned at a learning rate of 0.",
      "Set a rate above 0, for example 1e-5.",
    );
  return {
    optimizer: optim.type,
    learningRate: optim.lr > 0 ? optim.lr : 1,
    ...decaysOf(notes, `${at}optim`, optim),
    weightDecay: optim.weight_decay,
    maxGradNorm: optim.max_norm === null || optim.max_norm === 0 ? NO_CLIPPING : optim.max_norm,
  };
}

/** How fast what is remembered of earlier gradients fades. */
function decaysOf(notes: Notes, at: string, optim: Optimizer): Partial<TrainerParams> {
  const below1 = (key: string, value: number): number => {
    if (value >= 0 && value < 1) return value;
    notes.refuse(`${at}.${key}`, `${value} is not from 0 to below 1.`, "Set a value such as 0.9.");
    return 0;
  };
  switch (optim.type) {
    case "adamw":
      return { beta1: below1("betas1", optim.betas1), beta2: below1("betas2", optim.betas2) };
    case "muon":
      return {
        momentum: below1("mu", optim.mu),
        beta1: below1("betas1", optim.betas1),
        beta2: below1("betas2", optim.betas2),
      };
    case "sgd": {
      const momentum = below1("momentum", optim.momentum);
      if (optim.nesterov && momentum === 0)
        notes.refuse(
          `${at}.nesterov`,
          "There is no momentum to look ahead along.",
          "Set nesterov = false, or a momentum.",
        );
      return { momentum, nesterov: optim.nesterov && momentum > 0 };
    }
    case "sign_sgd":
      return {};
  }
}

/** `[scheduler]` in the words of a recipe. */
export function scheduleOf(
  notes: Notes,
  at: "trainer." | "",
  { scheduler, lr, steps }: { scheduler: Scheduler; lr: number; steps: number },
): Partial<TrainerParams> {
  if (scheduler.type === "constant") return {};
  const { type: schedule, warmup_steps: warmupSteps, min_lr: least } = scheduler;
  if (least > lr)
    notes.refuse(
      `${at}scheduler.min_lr`,
      `It is ${least}, and the rate never is above ${lr}.`,
      `Set it to at most ${at}optim.lr.`,
    );
  const decaySteps = scheduler.type === "linear" ? scheduler.decay_steps : undefined;
  if (warmupSteps + (decaySteps ?? 0) > steps)
    notes.refuse(
      `${at}scheduler.${decaySteps === undefined ? "warmup_steps" : "decay_steps"}`,
      `The schedule takes ${warmupSteps + (decaySteps ?? 0)} steps, and there are ${steps}.`,
      "Shorten it, or raise max_steps.",
    );
  return {
    schedule,
    warmupSteps,
    ...(least > 0 && least <= lr ? { minLearningRate: least } : {}),
    ...(decaySteps === undefined
      ? {}
      : { decaySteps: Math.min(decaySteps, Math.max(0, steps - warmupSteps)) }),
  };
}
