import { SpotterError } from "./schema/errors.ts";
import type { DatasetRow } from "./schema/dataset.ts";

/**
 * Refuses to evaluate on prompts that are trained on: the score would say how well they were remembered.
 *
 * @throws SpotterError `datasets_overlap`
 */
export function refuseOverlap(train: readonly DatasetRow[], held: readonly DatasetRow[]): void {
  const trained = new Set(train.map(keyOf));
  const shared = held.filter((row) => trained.has(keyOf(row)));
  const [first] = shared;
  if (first === undefined) return;
  const example = JSON.stringify(first.prompt.at(-1)?.content ?? "").slice(0, 200);
  throw new SpotterError(
    "datasets_overlap",
    `${shared.length} of the ${held.length} prompts of evalDataset are trained on, for example ${example}.`,
    {
      where: "evalDataset",
      hint: "Hold other rows out, for example train[:90%] and train[90%:], or pass allowOverlap: true.",
    },
  );
}

function keyOf({ prompt }: DatasetRow): string {
  return JSON.stringify(prompt);
}
