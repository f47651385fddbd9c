import { SpotterError } from "../../../sdk/schema/errors.ts";
import { ParameterSet } from "../models/parameter-set.ts";

export interface AdamWParams {
  beta1: number;
  beta2: number;
  epsilon: number;
  /** Decoupled; not applied to one-dimensional parameters (norm weights). */
  weightDecay: number;
  /** Gradients are scaled down to this global L2 norm; 0 leaves them as they are. */
  maxGradNorm: number;
}

/**
 * AdamW (arXiv:1711.05101, in the order of operations of `torch.optim.AdamW`), written straight into the
 * arrays the sessions read.
 */
export class AdamW {
  /** Updates made so far. */
  step = 0;
  readonly params: AdamWParams;
  readonly first: ParameterSet;
  readonly second: ParameterSet;
  readonly #parameters: ParameterSet;

  constructor(parameters: ParameterSet, params: AdamWParams) {
    this.params = params;
    this.#parameters = parameters;
    this.first = new ParameterSet([...parameters]);
    this.second = new ParameterSet([...parameters]);
  }

  /**
   * One update. A gradient of zeros is no update at all, so that a batch without a signal does not move the
   * weights by momentum.
   *
   * @returns the global gradient norm before clipping
   * @throws SpotterError `numeric_failure` for a NaN or infinite gradient; nothing has changed then.
   */
  update(gradients: ParameterSet, learningRate: number): number {
    const norm = globalNorm(gradients);
    if (norm === 0) return 0;
    const { maxGradNorm, weightDecay } = this.params;
    const scale = maxGradNorm > 0 ? Math.min(1, maxGradNorm / (norm + 1e-6)) : 1;
    this.step++;
    for (const { name, shape, data } of this.#parameters) {
      const decay = shape.length > 1 ? 1 - learningRate * weightDecay : 1;
      this.#updateOne(name, data, gradients.get(name).data, scale, decay, learningRate);
    }
    return norm;
  }

  #updateOne(
    name: string,
    weights: Float32Array,
    gradient: Float32Array,
    scale: number,
    decay: number,
    learningRate: number,
  ): void {
    const { beta1, beta2, epsilon } = this.params;
    const first = this.first.get(name).data;
    const second = this.second.get(name).data;
    const stepSize = learningRate / (1 - beta1 ** this.step);
    const rootCorrection = 1 / Math.sqrt(1 - beta2 ** this.step);
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

/** The L2 norm over all gradients. */
function globalNorm(gradients: ParameterSet): number {
  let total = 0;
  for (const { name, data } of gradients) {
    let sum = 0;
    for (let i = 0; i < data.length; i++) {
      const g = data[i] as number;
      sum += g * g;
    }
    if (!Number.isFinite(sum)) {
      throw new SpotterError(
        "numeric_failure",
        `The gradient of ${name} is not finite; the step was not taken.`,
        {
          where: name,
          hint: "Lower the learning rate, or look for rewards or log-probabilities that are out of range.",
        },
      );
    }
    total += sum;
  }
  return Math.sqrt(total);
}
