import { ResponseStream, type ResponseFamily, type StreamPart } from "./response-stream.ts";
import type { ParsedResponse, ToolCall } from "./rollout.ts";

export type { ResponseFamily } from "./response-stream.ts";

/** A piece of an answer, in the order written. */
export type ResponsePart =
  | { type: "content"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool-call"; call: ToolCall };

export interface ResponseParserOptions {
  /** Default: `hermes`. */
  family?: ResponseFamily | undefined;
  /** Take tool calls out of the text. Default: true. */
  tools?: boolean | undefined;
  /** The prompt already opened the reasoning, so the answer begins inside it. Default: false. */
  startsInReasoning?: boolean | undefined;
}

/**
 * Takes a whole answer apart. A malformed tool call stays in `content` as written.
 *
 * @example
 * parseResponse("<think>Easy.</think>\nFour.");
 * // { content: "Four.", reasoning: "Easy.", toolCalls: [] }
 */
export function parseResponse(text: string, family: ResponseFamily = "hermes"): ParsedResponse {
  const opened = text.indexOf("<think>");
  const closed = text.indexOf("</think>");
  const startsInReasoning = closed >= 0 && (opened < 0 || closed < opened);
  const parser = new ResponseParser({ family, startsInReasoning });
  const parsed: ParsedResponse = { content: "", reasoning: "", toolCalls: [] };
  for (const part of [...parser.push(text), ...parser.end()]) {
    if (part.type === "content") parsed.content += part.text;
    else if (part.type === "reasoning") parsed.reasoning += part.text;
    else parsed.toolCalls.push(part.call);
  }
  return parsed;
}

/** The family a chat template is written for. */
export function responseFamilyOf(chatTemplate: string): ResponseFamily {
  if (chatTemplate.includes("<tool_call>") || chatTemplate.includes("<think>")) return "hermes";
  if (chatTemplate.includes("<|python_tag|>") || chatTemplate.includes('"parameters"')) return "llama";
  return "plain";
}

/** Takes an answer apart while it is written, as {@link ResponseStream}; a tool call is handed on whole. */
export class ResponseParser {
  readonly #stream: ResponseStream;
  #name = "";
  #arguments = "";

  constructor(options: ResponseParserOptions = {}) {
    this.#stream = new ResponseStream(options);
  }

  push(text: string): ResponsePart[] {
    return this.#stream.push(text).flatMap((part) => this.#whole(part));
  }

  /** What was held back, once nothing more comes. */
  end(): ResponsePart[] {
    return this.#stream.end().flatMap((part) => this.#whole(part));
  }

  #whole(part: StreamPart): ResponsePart[] {
    switch (part.type) {
      case "content":
      case "reasoning":
        return [part];
      case "call":
        this.#name = part.name;
        this.#arguments = "";
        return [];
      case "arguments":
        this.#arguments += part.text;
        return [];
      case "call-end":
        if (part.how !== "complete") return [{ type: "content", text: part.raw }];
        return [
          {
            type: "tool-call",
            call: { name: this.#name, arguments: JSON.parse(this.#arguments) as unknown },
          },
        ];
    }
  }
}
