import type { ChatUsage } from "../../sdk/schema/chat.ts";
import type { AnswerEvent } from "./answers.ts";
import type { Sampling } from "./read-sampling.ts";

/** Counts what an answer costs; a prompt counts once, however many choices it has. */
export class UsageCounter {
  readonly #promptTokens: number;
  readonly #choicesPerPrompt: number;
  #completionTokens = 0;
  #cachedTokens = 0;

  constructor({ prompts, choices }: Pick<Sampling, "prompts" | "choices">) {
    this.#promptTokens = prompts.reduce((sum, ids) => sum + ids.length, 0);
    this.#choicesPerPrompt = choices / prompts.length;
  }

  take({ index, finish }: AnswerEvent): void {
    if (finish === undefined) return;
    this.#completionTokens += finish.tokens;
    // The others of a prompt share what its first one read.
    if (index % this.#choicesPerPrompt === 0) this.#cachedTokens += finish.cachedTokens;
  }

  usage(): ChatUsage {
    return {
      prompt_tokens: this.#promptTokens,
      completion_tokens: this.#completionTokens,
      total_tokens: this.#promptTokens + this.#completionTokens,
      prompt_tokens_details: { cached_tokens: this.#cachedTokens },
    };
  }
}
