import { setImmediate } from "node:timers/promises";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import { isLearnable } from "../../sdk/schema/sft-algorithm.ts";
import { documentTokens } from "./documents.ts";
import { sftSequence } from "./sft-step.ts";
import type { RowCodec } from "./text.ts";

type LengthSpec = Pick<RunSpec, "kind" | "rewards" | "python" | "rollout" | "algorithm">;

/** A row that the run will meet. */
export interface MetRow {
  row: DatasetRow;
  /** As errors name it: `dataset row 3`, counted from 1. */
  where: string;
}

/** Heartbeats share the thread: encoding many rows must not silence them. */
const BREATHE_EVERY_MS = 50;
const NAMED = 10;

/**
 * The longest prompt and completion the run can meet, in tokens: the engine sets memory aside for no more.
 *
 * @throws SpotterError `context_length_exceeded` naming the rows that do not fit, before the first step and
 *   not in the middle of the run.
 */
export async function longestSequence(
  spec: LengthSpec,
  codec: RowCodec,
  met: readonly MetRow[],
): Promise<number> {
  const tooLong: string[] = [];
  let longest = 1;
  let breathedAtMs = performance.now();
  for (const { row, where } of met) {
    try {
      longest = Math.max(longest, lengthOf(spec, codec, row, where));
    } catch (error) {
      if (!SpotterError.is(error) || error.code !== "context_length_exceeded") throw error;
      tooLong.push(where);
    }
    if (performance.now() - breathedAtMs < BREATHE_EVERY_MS) continue;
    await setImmediate();
    breathedAtMs = performance.now();
  }
  if (tooLong.length > 0) throw doNotFit(tooLong, met.length, codec.contextLength);
  return Math.min(longest, codec.contextLength);
}

/** @throws SpotterError `context_length_exceeded`. */
function lengthOf(
  { kind, rewards, python, rollout, algorithm }: LengthSpec,
  codec: RowCodec,
  row: DatasetRow,
  where: string,
): number {
  const whole = Math.min(rollout.contextTokens ?? Infinity, codec.contextLength);
  if (row.text !== undefined) return algorithm.kind === "sft" ? documentTokens(algorithm, codec) : 1;
  // What tools and environments will say is not known yet.
  if (row.environment !== undefined) return whole;
  const isSampled = kind === "distill" || (rewards ?? python?.rewards) !== undefined;
  const sampled = isSampled ? codec.promptIds(row).length + rollout.maxTokens : 0;
  if (isSampled && rollout.maxTurns > 1) return Math.max(sampled, whole);
  const learnt =
    algorithm.kind === "sft" && isLearnable(row, algorithm)
      ? sftSequence(codec, row, where, algorithm).ids.length
      : 0;
  return Math.max(sampled, learnt);
}

function doNotFit(tooLong: string[], rows: number, contextLength: number): SpotterError {
  const more = tooLong.length > NAMED ? ` and ${tooLong.length - NAMED} more` : "";
  return new SpotterError(
    "context_length_exceeded",
    `${tooLong.length} of ${rows} rows do not fit the model's ${contextLength} tokens: ` +
      `${tooLong.slice(0, NAMED).join(", ")}${more}.`,
    { where: tooLong[0], hint: "Shorten or remove these rows, or use a model with a longer context." },
  );
}
