import type { Parameter, ParameterSet } from "../../models/parameter-set.ts";
import { decayOf, type UpdateRule, type UpdateStep } from "./optimizer.ts";

/**
 * Sign-SGD (arXiv:1802.04434): every weight moves by the learning rate, against the sign of its gradient.
 * Nothing is remembered, so it costs no memory; clipping changes nothing.
 */
export class SignSgd implements UpdateRule {
  readonly moments = {};
  readonly #parameters: readonly Parameter[];
  readonly #weightDecay: number;

  /** @param params `weightDecay` is decoupled, and not applied to one-dimensional parameters. */
  constructor(parameters: Iterable<Parameter>, { weightDecay }: { weightDecay: number }) {
    this.#parameters = [...parameters];
    this.#weightDecay = weightDecay;
  }

  apply(gradients: ParameterSet, { learningRate }: UpdateStep): void {
    for (const { name, shape, data } of this.#parameters) {
      const gradient = gradients.get(name).data;
      const decay = decayOf(shape, this.#weightDecay, learningRate);
      for (let i = 0; i < data.length; i++) {
        data[i] = (data[i] as number) * decay - learningRate * Math.sign(gradient[i] as number);
      }
    }
  }
}
