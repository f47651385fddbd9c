import type { GenerateRequest } from "../engine-api.ts";

/** What of a request moves the logits before they are sampled from. */
export type AdjustmentParams = Pick<
  GenerateRequest,
  | "promptIds"
  | "temperature"
  | "logitBias"
  | "presencePenalty"
  | "frequencyPenalty"
  | "repetitionPenalty"
  | "minNewTokens"
  | "stopIds"
>;

/** exp() of less is 0 in float32. */
const UNDERFLOW = -104;

/**
 * Bias and penalties of one sequence. In order: `logit_bias` is added; the logits of tokens in the prompt or
 * the answer are divided by the repetition penalty where positive, and multiplied by it where negative
 * (arXiv:1909.05858, §4.1, as in Hugging Face and vLLM); of tokens in the answer, the frequency penalty times
 * their count and the presence penalty are taken away, as OpenAI documents them; stop tokens that come too early
 * are left out.
 */
export class Adjustment {
  readonly #bias: readonly (readonly [number, number])[];
  readonly #presence: number;
  readonly #frequency: number;
  readonly #repetition: number;
  readonly #inverseTemperature: number;
  /** Tokens that must come before any of `#stopIds` may. */
  #early: number;
  readonly #stopIds: readonly number[];
  /** Tokens of the answer, and how often each came. */
  readonly #counts = new Map<number, number>();
  /** Tokens of prompt and answer; kept only where a repetition penalty needs them. */
  readonly #seen: Set<number>;

  constructor(params: AdjustmentParams) {
    this.#bias = params.logitBias ?? [];
    this.#presence = params.presencePenalty ?? 0;
    this.#frequency = params.frequencyPenalty ?? 0;
    this.#repetition = params.repetitionPenalty ?? 1;
    this.#early = params.minNewTokens ?? 0;
    this.#stopIds = params.stopIds;
    this.#inverseTemperature = params.temperature === 0 ? 1 : 1 / params.temperature;
    this.#seen = new Set(this.#repetition === 1 ? [] : params.promptIds);
  }

  /** Whether a request asks for any. */
  static isWanted(params: AdjustmentParams): boolean {
    return (
      (params.logitBias?.length ?? 0) > 0 ||
      (params.minNewTokens ?? 0) > 0 ||
      (params.presencePenalty ?? 0) !== 0 ||
      (params.frequencyPenalty ?? 0) !== 0 ||
      (params.repetitionPenalty ?? 1) !== 1
    );
  }

  /** Counts a token of the answer. */
  count(id: number): void {
    if (this.#early > 0) this.#early--;
    if (this.#presence !== 0 || this.#frequency !== 0) {
      this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    }
    if (this.#repetition !== 1) this.#seen.add(id);
  }

  /** In place: softmax(adjusted logits / temperature); at temperature 1 when greedy. */
  toProbabilities(row: Float32Array): Float32Array {
    for (const [id, bias] of this.#bias) row[id] = (row[id] ?? 0) + bias;
    for (const id of this.#seen) {
      const logit = row[id] ?? 0;
      row[id] = logit > 0 ? logit / this.#repetition : logit * this.#repetition;
    }
    for (const [id, count] of this.#counts) {
      row[id] = (row[id] ?? 0) - this.#presence - this.#frequency * count;
    }
    if (this.#early > 0) for (const id of this.#stopIds) row[id] = -Infinity;
    softmax(row, this.#inverseTemperature);
    return row;
  }
}

/** In place: softmax(row * scale). */
function softmax(row: Float32Array, scale: number): void {
  let highest = -Infinity;
  for (let i = 0; i < row.length; i++) if ((row[i] as number) > highest) highest = row[i] as number;
  let sum = 0;
  for (let i = 0; i < row.length; i++) {
    const exponent = ((row[i] as number) - highest) * scale;
    const value = exponent < UNDERFLOW ? 0 : Math.exp(exponent);
    row[i] = value;
    sum += value;
  }
  for (let i = 0; i < row.length; i++) row[i] = (row[i] as number) / sum;
}
