import { SpotterError } from "../../../sdk/schema/errors.ts";
import { GraphSession, type SessionParams } from "../graph/session.ts";
import type { ParameterSet } from "../models/parameter-set.ts";
import type { Policy } from "../models/policy.ts";
import { trainGraph } from "../models/train-graph.ts";
import { checkIds, microBatches } from "./micro-batches.ts";
import { elementOf, microBatchFeeds } from "./feeds.ts";

/** Logits that may exist at once; bounds the memory of a pass. */
const MAX_LOGITS = 2 ** 25;
const MAX_TOKENS = 4096;

export interface ScorerParams extends SessionParams {
  maxPositions: number;
}

/** Log-probabilities of given tokens. The session is made when first asked. */
export class Scorer {
  readonly #policy: Policy;
  readonly #params: ScorerParams;
  #session: Promise<GraphSession> | undefined;

  constructor(policy: Policy, params: ScorerParams) {
    this.#policy = policy;
    this.#params = params;
  }

  /**
   * One array per sequence, as long as it; entry i is the log-probability of token i given those before it,
   * entry 0 is 0.
   *
   * @param instead parameters to use instead of the policy's of the same names
   * @throws SpotterError `invalid_input` or `context_length_exceeded` for a sequence that does not fit.
   */
  async score(
    sequences: readonly (readonly number[])[],
    temperature: number,
    instead?: ParameterSet,
  ): Promise<number[][]> {
    const { vocabularySize } = this.#policy.config;
    const { maxPositions } = this.#params;
    if (!(temperature > 0)) {
      throw new SpotterError("invalid_input", `temperature is ${temperature}, and must be above 0.`, {
        where: "temperature",
      });
    }
    for (const [index, ids] of sequences.entries()) {
      checkIds(ids, `sequences[${index}]`, { vocabularySize, maxPositions });
    }
    const session = await (this.#session ??= this.#create());
    const weights = { ...this.#policy.feeds(), ...instead?.feeds() };
    const scores = sequences.map((ids) => ids.map(() => 0));
    const masked = sequences.map((ids) => ({ ids, wanted: ids.map((_, position) => position > 0) }));
    const tokens = Math.min(MAX_TOKENS, Math.floor(MAX_LOGITS / vocabularySize));
    for (const part of microBatches(masked, { sequences: masked.length, tokens })) {
      const outputs = await session.run(
        { ...weights, ...microBatchFeeds(part, temperature) },
        { logprob: null },
      );
      for (const [index, { sequence, position }] of part.places.entries()) {
        const row = scores[sequence];
        if (row !== undefined) row[position] = elementOf(outputs, "logprob", index);
      }
    }
    return scores;
  }

  async close(): Promise<void> {
    await (await this.#session)?.close();
  }

  #create(): Promise<GraphSession> {
    const graph = trainGraph(this.#policy, { maxPositions: this.#params.maxPositions });
    return GraphSession.create(graph, this.#params);
  }
}
