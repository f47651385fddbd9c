import type { Tensor } from "onnxruntime-node";
import type { TrainBatch } from "../engine-api.ts";
import type { CriticBatch } from "./critic.ts";
import type { MicroBatch } from "./micro-batches.ts";

/** Gathers, over the passes of a step, what its critic learns from. */
export class CriticRows {
  readonly #hidden: Float32Array[] = [];
  readonly #returns: number[] = [];
  readonly #values: number[] = [];

  /** @param hidden [M, D] of the pass */
  add({ sequences }: TrainBatch, { places }: MicroBatch, hidden: Tensor | undefined): void {
    if (!(hidden?.data instanceof Float32Array)) throw new RangeError("The graph gave no hidden states");
    const width = hidden.data.length / places.length;
    for (const [row, { sequence, position }] of places.entries()) {
      const { returns, values } = sequences[sequence] ?? {};
      if (returns === undefined) continue;
      this.#hidden.push(hidden.data.subarray(row * width, (row + 1) * width));
      this.#returns.push(returns[position] ?? 0);
      this.#values.push(values?.[position] ?? 0);
    }
  }

  batch(): CriticBatch {
    const width = this.#hidden[0]?.length ?? 0;
    const hidden = new Float32Array(width * this.#hidden.length);
    for (const [row, each] of this.#hidden.entries()) hidden.set(each, row * width);
    return { hidden, returns: this.#returns, values: this.#values };
  }
}
