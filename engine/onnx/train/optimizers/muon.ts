import type { SessionParams } from "../../graph/session.ts";
import { EMBEDDING, HEAD } from "../../models/llama-parameters.ts";
import { ParameterSet, type Parameter } from "../../models/parameter-set.ts";
import { AdamW, type AdamWParams } from "./adamw.ts";
import { NewtonSchulz } from "./newton-schulz.ts";
import { decayOf, type UpdateRule, type UpdateStep } from "./optimizer.ts";

export interface MuonParams extends AdamWParams {
  /** Of the matrices; the betas are those of AdamW for the rest. */
  momentum: number;
}

/** Makes steps as large as those of AdamW at the same learning rate (arXiv:2502.16982, section 2.2). */
const RMS = 0.2;

/**
 * Muon (https://kellerjordan.github.io/posts/muon/, arXiv:2502.16982): matrices move along their momentum made
 * orthogonal, by `learningRate 0.2 sqrt(max(rows, columns))`; embeddings, the head and one-dimensional parameters
 * are AdamW's. Projections that lie in one matrix in memory are made orthogonal one by one, as they are on disk.
 */
export class Muon implements UpdateRule {
  readonly moments: Readonly<Record<string, ParameterSet>>;
  readonly #params: MuonParams;
  readonly #matrices: readonly Parameter[];
  readonly #momenta: ParameterSet;
  readonly #rest: AdamW;
  readonly #newtonSchulz: NewtonSchulz;

  constructor(parameters: Iterable<Parameter>, params: MuonParams, session: SessionParams) {
    const all = [...parameters];
    this.#params = params;
    this.#matrices = all.filter(isMatrix);
    this.#momenta = new ParameterSet(this.#matrices);
    this.#rest = new AdamW(
      all.filter((parameter) => !isMatrix(parameter)),
      params,
    );
    this.#newtonSchulz = new NewtonSchulz(session);
    this.moments = { momentum: this.#momenta, ...this.#rest.moments };
  }

  async apply(gradients: ParameterSet, update: UpdateStep): Promise<void> {
    for (const parameter of this.#matrices) await this.#applyOne(parameter, gradients, update);
    this.#rest.apply(gradients, update);
  }

  async #applyOne(
    { name, shape, parts, data }: Parameter,
    gradients: ParameterSet,
    { scale, learningRate }: UpdateStep,
  ): Promise<void> {
    const gradient = gradients.get(name).data;
    const momentum = this.#momenta.get(name).data;
    for (let i = 0; i < data.length; i++) {
      momentum[i] = this.#params.momentum * (momentum[i] as number) + (gradient[i] as number) * scale;
    }
    const decay = decayOf(shape, this.#params.weightDecay, learningRate);
    const columns = shape[1] ?? 1;
    let from = 0;
    for (const { rows } of parts) {
      const to = from + rows * columns;
      const direction = await this.#newtonSchulz.orthogonal(momentum.subarray(from, to), rows, columns);
      const stepSize = learningRate * RMS * Math.sqrt(Math.max(rows, columns));
      for (let i = from; i < to; i++) {
        data[i] = (data[i] as number) * decay - stepSize * (direction[i - from] as number);
      }
      from = to;
    }
  }

  close(): Promise<void> {
    return this.#newtonSchulz.close();
  }
}

function isMatrix({ name, shape }: Parameter): boolean {
  return shape.length === 2 && name !== EMBEDDING && name !== HEAD;
}
