import type { ChatFinishReason, ChatLogprob } from "../../sdk/schema/chat.ts";
import { ResponseStream, type StreamPart } from "../../sdk/schema/response-stream.ts";
import type { TokenAlternative, TokenChunk } from "../onnx/engine-api.ts";
import { StopStrings } from "../onnx/text/stop-strings.ts";
import type { StreamDecoder } from "../onnx/text/stream-decoder.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import type { AnswerRequest } from "./answer-request.ts";

/** Turns the tokens of one choice into text, reasoning and tool calls. */
export class Choice {
  readonly #text: TextModel;
  readonly #request: AnswerRequest;
  readonly #decoder: StreamDecoder;
  readonly #stops: StopStrings;
  readonly #parser: ResponseStream;
  #calls = 0;
  /** Tokens generated. */
  tokens = 0;
  /** Prompt tokens that were not read anew. */
  cachedTokens = 0;

  constructor(request: AnswerRequest, text: TextModel) {
    this.#text = text;
    this.#request = request;
    this.#decoder = text.tokenizer.stream();
    this.#stops = new StopStrings(request.stops);
    this.#parser = new ResponseStream(request);
  }

  /** A stop string was seen, or the only call: nothing more is wanted. */
  get stopped(): boolean {
    return this.#stops.stopped || this.#parser.over;
  }

  push(chunk: TokenChunk): { parts: StreamPart[]; logprobs: ChatLogprob[] } {
    const parts: StreamPart[] = [];
    const logprobs: ChatLogprob[] = [];
    this.cachedTokens = chunk.prompt?.cachedTokens ?? this.cachedTokens;
    for (const [index, id] of chunk.ids.entries()) {
      if (this.stopped) break;
      this.tokens++;
      parts.push(...this.#count(this.#parser.push(this.#stops.push(this.#decoder.push(id)))));
      if (!this.#request.logprobs || this.#text.stopIds.includes(id)) continue;
      const top = chunk.topLogprobs?.[index] ?? [];
      logprobs.push({
        ...this.#logprob({ id, logprob: chunk.logprobs[index] ?? 0 }),
        top_logprobs: top.map((alternative) => this.#logprob(alternative)),
      });
    }
    return { parts, logprobs };
  }

  /** The rest, and why it ended. */
  end(reason: "stop" | "length"): { parts: StreamPart[]; finish: ChatFinishReason } {
    const rest = this.stopped ? "" : this.#stops.push(this.#decoder.end());
    const parts = this.#count([...this.#parser.push(rest + this.#stops.end()), ...this.#parser.end()]);
    if (reason === "length" && !this.stopped) return { parts, finish: "length" };
    return { parts, finish: this.#calls > 0 && this.#request.named !== true ? "tool_calls" : "stop" };
  }

  /** Who reads a stream was told of a call before it was whole. */
  #count(parts: StreamPart[]): StreamPart[] {
    for (const part of parts) {
      const counts = this.#request.stream ? "call" : "call-end";
      if (part.type === counts && !("how" in part && part.how !== "complete")) this.#calls++;
    }
    return parts;
  }

  #logprob({ id, logprob }: TokenAlternative): Omit<ChatLogprob, "top_logprobs"> {
    const bytes = this.#text.tokenizer.bytesOf(id);
    return { token: new TextDecoder().decode(bytes), logprob, bytes: [...bytes] };
  }
}
