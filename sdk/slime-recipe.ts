import type { SlimeSettings } from "./schema/engines/slime-settings.ts";
import type { RunSpecInput } from "./schema/run-spec.ts";

/** What the settings of slime are in the words of every run, with the defaults of `recipes.slime`. */
export function slimeParts(settings: SlimeSettings): Pick<RunSpecInput, "algorithm" | "rollout" | "trainer"> {
  const {
    numRollout = 1,
    rolloutBatchSize = 16,
    nSamplesPerPrompt = 8,
    rolloutMaxResponseLen = 4_096,
  } = settings;
  const { saveInterval, lr = 5e-7, weightDecay = 0.1, adamBeta1 = 0.9, adamBeta2 = 0.98 } = settings;
  // slime's own mean: of the answers' means, where every other recipe takes that of all tokens.
  const normalizer = settings.calculatePerTokenLoss === true ? "token" : "sequence";
  const { epsClip = 0.2, epsClipHigh = 0.28, rolloutTemperature = 1 } = settings;
  return {
    algorithm: { kind: "grpo", clipLow: epsClip, clipHigh: epsClipHigh, normalizer },
    rollout: {
      promptsPerStep: rolloutBatchSize,
      samplesPerPrompt: nSamplesPerPrompt,
      maxTokens: rolloutMaxResponseLen,
      temperature: rolloutTemperature,
    },
    trainer: {
      steps: numRollout,
      learningRate: lr,
      weightDecay,
      beta1: adamBeta1,
      beta2: adamBeta2,
      ...(saveInterval === undefined ? {} : { saveEvery: saveInterval }),
    },
  };
}
