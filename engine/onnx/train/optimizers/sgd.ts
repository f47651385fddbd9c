import { ParameterSet, type Parameter } from "../../models/parameter-set.ts";
import type { UpdateRule, UpdateStep } from "./optimizer.ts";

export interface SgdParams {
  /** 0: none is kept. */
  momentum: number;
  /** Look a step ahead along the momentum. */
  nesterov: boolean;
  /** Added to the gradient, as L2 regularisation is; not for one-dimensional parameters (norm weights). */
  weightDecay: number;
}

/**
 * Stochastic gradient descent with momentum, Nesterov's on request (Sutskever et al. 2013,
 * https://proceedings.mlr.press/v28/sutskever13.html), in the form of `torch.optim.SGD`: the buffer is
 * `momentum buffer + gradient`, and the weights move by `learningRate buffer`.
 */
export class Sgd implements UpdateRule {
  readonly moments: Readonly<Record<string, ParameterSet>>;
  readonly #params: SgdParams;
  readonly #parameters: readonly Parameter[];
  readonly #buffers: ParameterSet | undefined;

  constructor(parameters: Iterable<Parameter>, params: SgdParams) {
    this.#params = params;
    this.#parameters = [...parameters];
    this.#buffers = params.momentum > 0 ? new ParameterSet(this.#parameters) : undefined;
    this.moments = this.#buffers === undefined ? {} : { momentum: this.#buffers };
  }

  apply(gradients: ParameterSet, { scale, learningRate }: UpdateStep): void {
    const { momentum, nesterov, weightDecay } = this.#params;
    for (const { name, shape, data } of this.#parameters) {
      const gradient = gradients.get(name).data;
      const buffer = this.#buffers?.get(name).data;
      const decay = shape.length > 1 ? weightDecay : 0;
      for (let i = 0; i < data.length; i++) {
        const weight = data[i] as number;
        const g = (gradient[i] as number) * scale + decay * weight;
        const moved = buffer === undefined ? g : momentum * (buffer[i] as number) + g;
        if (buffer !== undefined) buffer[i] = moved;
        data[i] = weight - learningRate * (nesterov ? g + momentum * moved : moved);
      }
    }
  }
}
