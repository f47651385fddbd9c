import { ParameterSet, type Parameter } from "../../models/parameter-set.ts";
import { decayOf, type UpdateRule, type UpdateStep } from "./optimizer.ts";

export interface AdamWParams {
  beta1: number;
  beta2: number;
  epsilon: number;
  /** Decoupled; not applied to one-dimensional parameters (norm weights). */
  weightDecay: number;
}

/** AdamW (arXiv:1711.05101), in the order of operations of `torch.optim.AdamW`. */
export class AdamW implements UpdateRule {
  readonly moments: { "adam-first": ParameterSet; "adam-second": ParameterSet };
  readonly #params: AdamWParams;
  readonly #parameters: readonly Parameter[];

  constructor(parameters: Iterable<Parameter>, params: AdamWParams) {
    this.#params = params;
    this.#parameters = [...parameters];
    this.moments = {
      "adam-first": new ParameterSet(this.#parameters),
      "adam-second": new ParameterSet(this.#parameters),
    };
  }

  apply(gradients: ParameterSet, update: UpdateStep): void {
    for (const { name, shape, data } of this.#parameters) {
      const decay = decayOf(shape, this.#params.weightDecay, update.learningRate);
      this.#applyOne(name, data, gradients.get(name).data, decay, update);
    }
  }

  #applyOne(
    name: string,
    weights: Float32Array,
    gradient: Float32Array,
    decay: number,
    { step, scale, learningRate }: UpdateStep,
  ): void {
    const { beta1, beta2, epsilon } = this.#params;
    const first = this.moments["adam-first"].get(name).data;
    const second = this.moments["adam-second"].get(name).data;
    const stepSize = learningRate / (1 - beta1 ** step);
    const rootCorrection = 1 / Math.sqrt(1 - beta2 ** step);
    const keep1 = 1 - beta1;
    const keep2 = 1 - beta2;
    for (let i = 0; i < weights.length; i++) {
      const g = (gradient[i] as number) * scale;
      const m = beta1 * (first[i] as number) + keep1 * g;
      const v = beta2 * (second[i] as number) + keep2 * g * g;
      first[i] = m;
      second[i] = v;
      weights[i] =
        (weights[i] as number) * decay - (stepSize * m) / (Math.sqrt(v) * rootCorrection + epsilon);
    }
  }
}
