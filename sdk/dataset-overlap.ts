import { createHash } from "node:crypto";
import { SpotterError } from "./schema/errors.ts";
import type { DatasetRow } from "./schema/dataset.ts";

/**
 * Refuses to evaluate on prompts that are trained on: the score would say how well they were remembered. Of each
 * row that is trained on only a hash is kept.
 */
export class OverlapWatch {
  readonly #trained = new Set<string>();
  #held = 0;
  #shared = 0;
  #example = "";

  train(row: DatasetRow): void {
    this.#trained.add(keyOf(row));
  }

  /** Once all rows to train on were shown. */
  hold(row: DatasetRow): void {
    this.#held++;
    if (!this.#trained.has(keyOf(row))) return;
    if (this.#shared++ > 0) return;
    this.#example = JSON.stringify(row.text ?? row.prompt.at(-1)?.content ?? "").slice(0, 200);
  }

  /** @throws SpotterError `datasets_overlap` */
  refuse(): void {
    if (this.#shared === 0) return;
    throw new SpotterError(
      "datasets_overlap",
      `${this.#shared} of the ${this.#held} prompts of evalDataset are trained on, for example ${this.#example}.`,
      {
        where: "evalDataset",
        hint: "Hold other rows out, for example train[:90%] and train[90%:], or pass allowOverlap: true.",
      },
    );
  }
}

function keyOf({ prompt, text }: DatasetRow): string {
  return createHash("sha256")
    .update(JSON.stringify(text ?? prompt))
    .digest("base64url");
}
