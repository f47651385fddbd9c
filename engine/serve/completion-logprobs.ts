import type { PromptReport, TokenAlternative, TokenChunk } from "../onnx/engine-api.ts";
import type { StreamDecoder } from "../onnx/text/stream-decoder.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { CompletionPrompt } from "./completion-prompts.ts";
import type { CompletionRequest } from "./completion-request.ts";

/** Log-probabilities as `/v1/completions` gives them: one entry a token in each list. */
export interface CompletionLogprobs {
  tokens: string[];
  /** null for the first token of a prompt. */
  token_logprobs: (number | null)[];
  /** The likeliest, and the token itself where it is not among them. */
  top_logprobs: (Record<string, number> | null)[];
  /** Where each token's text begins in the choice's, in characters (code points). */
  text_offset: number[];
}

/** Writes the log-probabilities of one choice, its prompt's first where that is echoed. */
export class CompletionLogprobsWriter {
  readonly #text: TextModel;
  readonly #asIds: boolean;
  readonly #decoder: StreamDecoder;
  #offset = 0;

  constructor(text: TextModel, { tokensAsIds }: Pick<CompletionRequest, "tokensAsIds">) {
    this.#text = text;
    this.#asIds = tokensAsIds;
    this.#decoder = text.tokenizer.stream();
  }

  prompt({ ids, text }: CompletionPrompt, report: PromptReport): CompletionLogprobs {
    const { logprobs = [], topLogprobs } = report;
    const decoder = this.#text.tokenizer.stream({ special: true });
    const lengths = ids.map((id) => lengthOf(decoder.push(id)));
    const whole = lengthOf(text());
    // A start token that was put before the text is not part of it.
    let offset = Math.min(0, whole - lengths.reduce((a, b) => a + b, 0));
    const entries = emptyLogprobs();
    for (const [at, id] of ids.entries()) {
      this.#add(entries, { id, logprob: logprobs[at] ?? 0 }, topLogprobs?.[at], Math.max(offset, 0));
      offset += lengths[at] ?? 0;
    }
    entries.token_logprobs[0] = null;
    entries.top_logprobs[0] = null;
    this.#offset = whole;
    return entries;
  }

  answer({ ids, logprobs, topLogprobs }: TokenChunk): CompletionLogprobs {
    const entries = emptyLogprobs();
    for (const [at, id] of ids.entries()) {
      this.#add(entries, { id, logprob: logprobs[at] ?? 0 }, topLogprobs?.[at], this.#offset);
      this.#offset += lengthOf(this.#decoder.push(id));
    }
    return entries;
  }

  #add(
    entries: CompletionLogprobs,
    token: TokenAlternative,
    top: readonly TokenAlternative[] = [],
    offset: number,
  ): void {
    entries.tokens.push(this.#nameOf(token.id));
    entries.token_logprobs.push(token.logprob);
    const named = [...top, token].map(({ id, logprob }) => [this.#nameOf(id), logprob] as const);
    entries.top_logprobs.push(Object.fromEntries(named));
    entries.text_offset.push(offset);
  }

  /** Its text; bytes that are no text of their own in OpenAI's way of writing them. */
  #nameOf(id: number): string {
    if (this.#asIds) return `token_id:${id}`;
    const bytes = this.#text.tokenizer.bytesOf(id);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    return text.includes("\ufffd")
      ? `bytes:${[...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`
      : text;
  }
}

/** One after the other. */
export function joinLogprobs(parts: readonly CompletionLogprobs[]): CompletionLogprobs {
  return {
    tokens: parts.flatMap((part) => part.tokens),
    token_logprobs: parts.flatMap((part) => part.token_logprobs),
    top_logprobs: parts.flatMap((part) => part.top_logprobs),
    text_offset: parts.flatMap((part) => part.text_offset),
  };
}

function emptyLogprobs(): CompletionLogprobs {
  return { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] };
}

function lengthOf(text: string): number {
  return [...text].length;
}
