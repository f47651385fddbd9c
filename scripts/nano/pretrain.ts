import type { TrainSequence } from "../../engine/onnx/engine-api.ts";
import type { TextModel } from "../../engine/onnx/text/text-model.ts";
import type { Trainer } from "../../engine/onnx/train/trainer.ts";
import { chatTemplateOf, render, type Conversation } from "./conversation.ts";
import { shortConversation, toolConversation } from "./corpus.ts";
import { Random } from "./random.ts";
import { ASSISTANT_ID, END_ID } from "./tokenizer-files.ts";

export interface PretrainSettings {
  seed: number;
  steps: number;
  /** Short conversations of a step. */
  shortPerStep: number;
  /** Every so many steps, a step learns from conversations with tools instead: they are four times as long. */
  toolsEvery: number;
  toolsPerStep: number;
  /** Highest learning rate; reached after the warm-up, then a cosine down to `finalShare` of it. */
  learningRate: number;
  warmupSteps: number;
  finalShare: number;
}

export interface PretrainProgress {
  step: number;
  /** Mean negative log-likelihood of a token in short conversations, averaged over the last steps. */
  loss: number;
  tokens: number;
}

/** Supervised training on fresh conversations in every step; no conversation is seen twice on purpose. */
export async function pretrain(
  trainer: Pick<Trainer, "step">,
  text: TextModel,
  settings: PretrainSettings,
  onProgress: (progress: PretrainProgress) => void,
): Promise<PretrainProgress> {
  const random = new Random(settings.seed);
  const draw = (count: number, kind: (random: Random) => Conversation): TrainSequence[] =>
    Array.from({ length: count }, () => toSequence(text, kind(random)));
  const progress: PretrainProgress = { step: 0, loss: 0, tokens: 0 };
  for (let step = 0; step < settings.steps; step++) {
    const isToolStep = step % settings.toolsEvery === settings.toolsEvery - 1;
    const sequences = isToolStep
      ? draw(settings.toolsPerStep, toolConversation)
      : draw(settings.shortPerStep, shortConversation);
    const { loss, tokens } = await trainer.step({
      sequences,
      loss: "sft",
      clipLow: 0.2,
      clipHigh: 0.2,
      klCoef: 0,
      temperature: 1,
      learningRate: learningRateAt(settings, step),
      microBatchSize: sequences.length,
    });
    progress.step = step + 1;
    if (!isToolStep) progress.loss = step === 0 ? loss : 0.95 * progress.loss + 0.05 * loss;
    progress.tokens += tokens;
    onProgress({ ...progress });
  }
  return progress;
}

/** Tokens of a conversation; what assistants say, and that they end, is learnt. */
export function toSequence(text: TextModel, conversation: Conversation): TrainSequence {
  const ids = text.tokenizer.encode(render(chatTemplateOf(text), conversation));
  let isAnswer = 0;
  const mask = ids.map((id) => {
    const learnt = isAnswer;
    if (id === ASSISTANT_ID) isAnswer = 1;
    if (id === END_ID) isAnswer = 0;
    return learnt;
  });
  return { ids, mask, advantages: ids.map(() => 1) };
}

export function learningRateAt(settings: PretrainSettings, step: number): number {
  const { learningRate, warmupSteps, finalShare, steps } = settings;
  const warmup = Math.min(1, (step + 1) / warmupSteps);
  const decay = 0.5 * (1 + Math.cos((Math.PI * step) / steps));
  return learningRate * warmup * (finalShare + (1 - finalShare) * decay);
}
