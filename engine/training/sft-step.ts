import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { LearnRole, SftAlgorithm } from "../../sdk/schema/sft-algorithm.ts";
import type { EngineApi, TrainSequence } from "../onnx/engine-api.ts";
import { documentSequences, documentTokens } from "./documents.ts";
import type { RowCodec } from "./text.ts";

/** A row to learn, and how errors name it. */
export interface LearntRow {
  row: DatasetRow;
  where: string;
}

/**
 * What is learnt from the rows of a step: each answer in a sequence of its own, and texts end to end.
 *
 * @throws SpotterError `dataset_invalid` or `context_length_exceeded`, naming the row.
 */
export function sftSequences(
  codec: RowCodec,
  rows: readonly LearntRow[],
  algorithm: SftAlgorithm,
): TrainSequence[] {
  const texts = rows.flatMap(({ row }) => (row.text === undefined ? [] : [codec.textIds(row.text)]));
  const answers = rows.filter(({ row }) => row.text === undefined);
  return [
    ...answers.map(({ row, where }) => sftSequence(codec, row, where, algorithm)),
    ...(texts.length === 0
      ? []
      : documentSequences(texts, { end: codec.endId, length: documentTokens(algorithm, codec) })),
  ];
}

/**
 * The tokens an SFT step learns from a row: the completion and the token that ends its turn, never the
 * prompt; with `learnRoles`, of its whole conversation what these roles say.
 *
 * @throws SpotterError `dataset_invalid` without a completion, `context_length_exceeded` when it is too long.
 */
export function sftSequence(
  codec: RowCodec,
  row: DatasetRow,
  where: string,
  { learnRoles }: Pick<SftAlgorithm, "learnRoles"> = {},
): TrainSequence {
  if (learnRoles !== undefined) return turnsSequence(codec, row, where, learnRoles);
  if (row.completion === undefined)
    throw new SpotterError("dataset_invalid", `${where} has no completion to learn.`, {
      where,
      hint: "Give every row a completion, or use kind rl.",
    });
  const { completion } = row;
  const { promptIds, answerIds } = fitting(codec, where, () => ({
    promptIds: codec.promptIds(row),
    answerIds: codec.completionIds(row, completion),
  }));
  const ids = [...promptIds, ...answerIds];
  if (ids.length > codec.contextLength) throw tooLong(where, codec.contextLength);
  const mask = [...promptIds.map(() => 0), ...answerIds.map(() => 1)];
  return { ids, mask, advantages: mask };
}

function turnsSequence(
  codec: RowCodec,
  row: DatasetRow,
  where: string,
  roles: readonly LearnRole[],
): TrainSequence {
  const { ids, mask } = fitting(codec, where, () => codec.learntTurns(row, roles));
  if (ids.length > codec.contextLength) throw tooLong(where, codec.contextLength);
  if (mask.includes(1)) return { ids, mask, advantages: mask };
  throw new SpotterError("dataset_invalid", `${where} has nothing of ${roles.join(", ")} to learn.`, {
    where,
    hint: "Leave the row out, or name other roles in learnRoles.",
  });
}

/** One step on the negative log-likelihood of a batch of completions. */
export async function sftStep(
  engine: EngineApi,
  spec: RunSpec,
  sequences: TrainSequence[],
  learningRate: number,
): Promise<Record<string, number>> {
  const { algorithm } = spec;
  const trained = await engine.trainStep({
    sequences,
    loss: "sft",
    clipLow: 0,
    clipHigh: 0,
    klCoef: 0,
    temperature: 1,
    learningRate,
    microBatchSize: spec.trainer.microBatchSize,
    ...(algorithm.kind === "sft" && algorithm.packTokens !== undefined
      ? { packTokens: algorithm.packTokens }
      : {}),
  });
  return {
    loss: trained.loss,
    entropy: trained.entropy,
    grad_norm: trained.gradNorm,
    completion_tokens: trained.tokens,
    lr: learningRate,
  };
}

function fitting<T>(codec: RowCodec, where: string, encode: () => T): T {
  try {
    return encode();
  } catch (error) {
    if (SpotterError.is(error) && error.code === "context_length_exceeded")
      throw tooLong(where, codec.contextLength);
    throw error;
  }
}

function tooLong(where: string, contextLength: number): SpotterError {
  return new SpotterError(
    "context_length_exceeded",
    `${where} has more than the ${contextLength} tokens the model takes.`,
    { where, hint: "Shorten the row, or use a model with a longer context." },
  );
}
