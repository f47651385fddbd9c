import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { LaunchEval } from "../../sdk/schema/launch-eval.ts";
import { answersPerRow, sampleGroups } from "../../sdk/schema/pass-at.ts";
import { seedOf } from "../training/seeds.ts";

/** One conversation to play. */
export interface Question {
  /** Its number in the eval: row after row, the answers of a row one after the other. */
  number: number;
  index: number;
  sample: number;
  row: DatasetRow;
  seed: number;
  /** Absent: that of the chat options. */
  temperature?: number;
}

type Asked = Pick<LaunchEval, "passAt" | "samplesPerRow" | "seed">;

/** All questions of an eval but those that are answered; `done` holds numbers from the first up to before the second. */
export function questionsOf(
  rows: readonly DatasetRow[],
  spec: Asked,
  done: readonly (readonly [number, number])[] = [],
): Question[] {
  const perRow = answersPerRow(spec);
  const groups = sampleGroups(spec);
  const isDone = new Uint8Array(rows.length * perRow);
  for (const [from, to] of done) isDone.fill(1, from, to);
  return rows.flatMap((row, index) =>
    groups.flatMap(({ first, samples, temperature }) =>
      Array.from({ length: samples }, (_, at) => first + at).flatMap((sample): Question[] => {
        const number = index * perRow + sample;
        if (isDone[number] === 1) return [];
        const seed = seedOf(spec.seed, "eval", index, sample);
        return [{ number, index, sample, row, seed, ...(temperature !== undefined && { temperature }) }];
      }),
    ),
  );
}
