import { SpotterError } from "../../../../sdk/schema/errors.ts";
import type { OptimizerSetup } from "../../engine-api.ts";
import type { ParameterSet } from "../../models/parameter-set.ts";

/** What every rule is told of an update. */
export interface UpdateStep {
  /** Updates so far, this one included. */
  step: number;
  /** Gradients are multiplied by it: what clipping leaves of them. */
  scale: number;
  learningRate: number;
}

/** How gradients change parameters: AdamW, SGD and so on, a file each. */
export interface UpdateRule {
  /** What is remembered from step to step, by the file it is saved in. */
  readonly moments: Readonly<Record<string, ParameterSet>>;
  /** Writes straight into the arrays that the sessions read. */
  apply(gradients: ParameterSet, update: UpdateStep): void | Promise<void>;
  close?(): Promise<void>;
}

/** Clips, counts and applies a rule. Equal gradients give equal bits, in one go or resumed. */
export class Optimizer {
  readonly type: OptimizerSetup["type"];
  /** Updates made so far. */
  step = 0;
  readonly #rule: UpdateRule;
  readonly #maxGradNorm: number;

  constructor(rule: UpdateRule, { type, maxGradNorm }: Pick<OptimizerSetup, "type" | "maxGradNorm">) {
    this.type = type;
    this.#rule = rule;
    this.#maxGradNorm = maxGradNorm;
  }

  get moments(): Readonly<Record<string, ParameterSet>> {
    return this.#rule.moments;
  }

  /**
   * One update. A gradient of zeros is no update at all, so that a batch without a signal does not move the
   * weights by momentum.
   *
   * @returns the global gradient norm before clipping
   * @throws SpotterError `numeric_failure` for a NaN or infinite gradient; nothing has changed then.
   */
  async update(gradients: ParameterSet, learningRate: number): Promise<number> {
    const norm = globalNorm(gradients);
    if (norm === 0) return 0;
    // As torch.nn.utils.clip_grad_norm_ has it.
    const scale = this.#maxGradNorm > 0 ? Math.min(1, this.#maxGradNorm / (norm + 1e-6)) : 1;
    this.step++;
    await this.#rule.apply(gradients, { step: this.step, scale, learningRate });
    return norm;
  }

  async close(): Promise<void> {
    await this.#rule.close?.();
  }
}

/** Factor on the weights before the step: decoupled decay, which leaves one-dimensional ones (norms) alone. */
export function decayOf(shape: readonly number[], weightDecay: number, learningRate: number): number {
  return shape.length > 1 ? 1 - learningRate * weightDecay : 1;
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
