import type { GenerateRequest, PromptReport, TokenAlternative } from "../engine-api.ts";
import { alternatives, logOf } from "./sampler.ts";

/** Log-probabilities of a prompt's tokens, each given those before it, collected as the prompt is read. */
export class PromptScores {
  readonly #ids: readonly number[];
  readonly #count: number;
  readonly #logprobs: number[] = [0];
  readonly #alternatives: TokenAlternative[][] = [[]];

  constructor({ promptIds, promptLogprobs = 0 }: Pick<GenerateRequest, "promptIds" | "promptLogprobs">) {
    this.#ids = promptIds;
    this.#count = promptLogprobs;
  }

  /** Whether every token has its score; the first one needs none. */
  get complete(): boolean {
    return this.#logprobs.length >= this.#ids.length;
  }

  /** Scores the next token with the row of probabilities after those before it. */
  take(row: Float32Array): void {
    const id = this.#ids[this.#logprobs.length];
    if (id === undefined) throw new RangeError("The prompt has no more tokens");
    this.#logprobs.push(logOf(row[id] ?? 0));
    if (this.#count > 0) this.#alternatives.push(alternatives(row, this.#count));
  }

  report(): Pick<PromptReport, "logprobs" | "topLogprobs"> {
    const topLogprobs = this.#count > 0 ? { topLogprobs: this.#alternatives } : {};
    return { logprobs: this.#logprobs, ...topLogprobs };
  }
}
