import type { ParsedResponse, ToolCall } from "./rollout.ts";

/**
 * How a model writes reasoning and tool calls.
 *
 * - `hermes`: `<think>…</think>` and `<tool_call>{"name", "arguments"}</tool_call>` (Qwen, Hermes, spotter/nano)
 * - `llama`: the whole answer is `{"name", "parameters"}`, perhaps after `<|python_tag|>` (Llama 3)
 * - `plain`: everything is content
 */
export type ResponseFamily = "hermes" | "llama" | "plain";

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

type State = "content" | "reasoning" | "tool-call";

const END_TAG: Record<Exclude<State, "content">, string> = {
  reasoning: "</think>",
  "tool-call": "</tool_call>",
};

/**
 * Takes an answer apart while it is written. Text is handed on as soon as it cannot be part of a tag;
 * a tool call is handed on whole. White space around tags belongs to the tags.
 */
export class ResponseParser {
  readonly #family: ResponseFamily;
  readonly #tags: readonly string[];
  readonly #tools: boolean;
  #state: State;
  #pending = "";
  /** Whether white space at the front is dropped: after a tag, and where reasoning begins. */
  #trimStart: boolean;
  /** White space before a tool call, which belongs to the text if the call turns out to be none. */
  #gap = "";
  /** Llama: the answer is known not to be a call. */
  #isText = false;

  constructor(options: ResponseParserOptions = {}) {
    this.#family = options.family ?? "hermes";
    this.#tools = options.tools ?? true;
    this.#tags = this.#tools ? ["<think>", "<tool_call>"] : ["<think>"];
    this.#state = options.startsInReasoning === true && this.#family === "hermes" ? "reasoning" : "content";
    this.#trimStart = this.#state === "reasoning";
  }

  push(text: string): ResponsePart[] {
    if (this.#family === "plain") return text === "" ? [] : [{ type: "content", text }];
    this.#pending += text;
    if (this.#family === "llama") return this.#pushLlama();
    const parts: ResponsePart[] = [];
    while (this.#advance(parts));
    return parts;
  }

  /** What was held back, once nothing more comes. */
  end(): ResponsePart[] {
    const rest = this.#pending;
    this.#pending = "";
    if (this.#family === "llama" && this.#tools) {
      const call = this.#isText ? undefined : readToolCall(rest.trimStart().replace(PYTHON_TAG, ""));
      if (call !== undefined) return [{ type: "tool-call", call }];
    }
    switch (this.#state) {
      case "content":
        return text("content", this.#trimmed(rest));
      case "reasoning":
        return text("reasoning", this.#trimmed(rest).trimEnd());
      case "tool-call":
        return text("content", `${this.#gap}<tool_call>${rest}`);
    }
  }

  /** Deals with the pending text up to the next tag; false when more text is needed. */
  #advance(parts: ResponsePart[]): boolean {
    const ends = this.#state === "content" ? this.#tags : [END_TAG[this.#state]];
    const found = firstOf(this.#pending, ends);
    if (found === undefined) {
      if (this.#state === "tool-call") return false;
      const safe = heldBackFrom(this.#pending, ends);
      parts.push(...text(this.#state, this.#trimmed(this.#pending.slice(0, safe))));
      this.#pending = this.#pending.slice(safe);
      return false;
    }
    const before = this.#pending.slice(0, found.at);
    this.#pending = this.#pending.slice(found.at + found.tag.length);
    this.#trimStart = !this.#close(before, parts);
    this.#state = stateAfter(found.tag);
    return true;
  }

  /** Hands on what stood before a tag; true when that leaves text which the tag does not trim. */
  #close(before: string, parts: ResponsePart[]): boolean {
    if (this.#state !== "tool-call") {
      const trimmed = this.#trimmed(before);
      const kept = trimmed.trimEnd();
      this.#gap = trimmed.slice(kept.length);
      parts.push(...text(this.#state, kept));
      return false;
    }
    const call = readToolCall(before);
    if (call === undefined) parts.push(...text("content", `${this.#gap}<tool_call>${before}</tool_call>`));
    else parts.push({ type: "tool-call", call });
    this.#gap = "";
    return call === undefined;
  }

  #trimmed(value: string): string {
    if (!this.#trimStart) return value;
    const trimmed = value.trimStart();
    if (trimmed !== "") this.#trimStart = false;
    return trimmed;
  }

  /** An answer that begins like a call is held back whole, for only its end shows whether it is one. */
  #pushLlama(): ResponsePart[] {
    if (this.#tools && !this.#isText && mayBecomeCall(this.#pending.trimStart())) return [];
    this.#isText = true;
    const value = this.#pending;
    this.#pending = "";
    return text("content", value);
  }
}

const PYTHON_TAG = "<|python_tag|>";

function mayBecomeCall(start: string): boolean {
  return start.startsWith("{") || start.startsWith(PYTHON_TAG) || PYTHON_TAG.startsWith(start);
}

function stateAfter(tag: string): State {
  if (tag === "<think>") return "reasoning";
  return tag === "<tool_call>" ? "tool-call" : "content";
}

function text(type: "content" | "reasoning", value: string): ResponsePart[] {
  return value === "" ? [] : [{ type, text: value }];
}

/** `{"name": …, "arguments" or "parameters": …}`; undefined where it is anything else. */
function readToolCall(body: string): ToolCall | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { name, arguments: input, parameters } = value as Record<string, unknown>;
  if (typeof name !== "string" || name === "") return undefined;
  return { name, arguments: input ?? parameters ?? {} };
}

function firstOf(value: string, tags: readonly string[]): { tag: string; at: number } | undefined {
  let first: { tag: string; at: number } | undefined;
  for (const tag of tags) {
    const at = value.indexOf(tag);
    if (at >= 0 && (first === undefined || at < first.at)) first = { tag, at };
  }
  return first;
}

/** Where the tail begins that may yet become a tag, with the white space before it. */
function heldBackFrom(value: string, tags: readonly string[]): number {
  const longest = Math.max(...tags.map((tag) => tag.length));
  let at = value.length;
  for (let length = Math.min(longest - 1, value.length); length > 0; length--) {
    const tail = value.slice(value.length - length);
    if (tags.some((tag) => tag.startsWith(tail))) {
      at = value.length - length;
      break;
    }
  }
  return value.slice(0, at).trimEnd().length;
}
