import { firstTag, heldBackFrom } from "./tags.ts";
import { ToolCallReader, type ToolCallNews } from "./tool-call-reader.ts";

/**
 * How a model writes reasoning and tool calls.
 *
 * - `hermes`: `<think>…</think>` and `<tool_call>{"name", "arguments"}</tool_call>` (Qwen, Hermes, spotter/nano)
 * - `llama`: the answer is `{"name", "parameters"}`, perhaps after `<|python_tag|>`, perhaps several with `;`
 *   between (Llama 3)
 * - `plain`: everything is content
 */
export type ResponseFamily = "hermes" | "llama" | "plain";

/**
 * A piece of an answer, in the order written. A tool call is a `call`, its `arguments` in fragments of JSON
 * text, and a `call-end`.
 */
export type StreamPart =
  | { type: "content"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "call"; name: string }
  | { type: "arguments"; text: string }
  | CallEnd;

export interface CallEnd {
  type: "call-end";
  /** `malformed`: it turned out to be none. `cut`: the answer ended within it. */
  how: "complete" | "malformed" | "cut";
  /** The call as written, with its tags: content for who can still take it back. */
  raw: string;
  /** What of it is content for who cannot. */
  rest: string;
}

export interface ResponseStreamOptions {
  /** Default: `hermes`. */
  family?: ResponseFamily | undefined;
  /** Take tool calls out of the text. Default: true. */
  tools?: boolean | undefined;
  /** Names of the tools. JSON without a tag around it is a call only of one of them. Default: any name. */
  toolNames?: readonly string[] | undefined;
  /** Nothing after the first call is wanted. Default: false. */
  single?: boolean | undefined;
  /** Content is content to its end: tags count only before it begins, and after a call. Default: false. */
  tagsFirst?: boolean | undefined;
  /** The prompt already opened the reasoning, so the answer begins inside it. Default: false. */
  startsInReasoning?: boolean | undefined;
}

const THINK = "<think>";
const CALL = "<tool_call>";
const CALL_END = "</tool_call>";
const PYTHON_TAG = "<|python_tag|>";

type State = "content" | "reasoning" | "call" | "broken" | "after-call" | "bare" | "over";

/**
 * Takes an answer apart while it is written. Text is handed on as soon as it cannot be part of a tag, a call's
 * arguments as they come. White space around tags belongs to the tags. However the text is cut into pieces,
 * the parts joined are the same.
 */
export class ResponseStream {
  readonly #options: ResponseStreamOptions;
  /** Tags that may come in content. */
  #tags: readonly string[];
  #state: State = "content";
  #pending = "";
  /** Whether white space at the front is dropped: after a tag, and where reasoning begins. */
  #trimStart = false;
  #reader = new ToolCallReader();
  /** The call as written, before what its reader reads. */
  #opening = "";
  #calls = 0;

  constructor(options: ResponseStreamOptions = {}) {
    const { family = "hermes", tools = true, startsInReasoning = false } = options;
    this.#options = options;
    this.#tags = family !== "hermes" ? [] : tools ? [THINK, CALL] : [THINK];
    if (family === "hermes" && startsInReasoning) this.#enter("reasoning");
    // Without a tag a call can only be the beginning of an answer, or follow another.
    if (family === "llama" && tools) this.#state = "bare";
  }

  /** A call came, and nothing after it is wanted. */
  get over(): boolean {
    return this.#state === "over";
  }

  push(text: string): StreamPart[] {
    this.#pending += text;
    const parts: StreamPart[] = [];
    while (this.#advance(parts, false));
    return parts;
  }

  /** What was held back, once nothing more comes. */
  end(): StreamPart[] {
    const parts: StreamPart[] = [];
    while (this.#advance(parts, true));
    return parts;
  }

  /** Goes on to the next state, where that is known; `last`: no more text comes. */
  #advance(parts: StreamPart[], last: boolean): boolean {
    switch (this.#state) {
      case "content":
        if (this.#options.tagsFirst === true) this.#dropTags();
        return this.#advanceText("content", this.#tags, parts, last);
      case "reasoning":
        return this.#advanceText("reasoning", ["</think>"], parts, last);
      case "call":
        return this.#advanceCall(parts, last);
      case "broken":
        return this.#advanceBroken(parts, last);
      case "after-call":
        return this.#advanceAfterCall(last);
      case "bare":
        return this.#advanceBare(parts, last);
      case "over":
        this.#pending = "";
        return false;
    }
  }

  /** Once content has begun with something else. */
  #dropTags(): void {
    const start = this.#pending.trimStart();
    if (start === "" || this.#tags.some((tag) => tag.startsWith(start) || start.startsWith(tag))) return;
    this.#tags = [];
  }

  #advanceText(
    type: "content" | "reasoning",
    tags: readonly string[],
    parts: StreamPart[],
    last: boolean,
  ): boolean {
    const found = firstTag(this.#pending, tags);
    if (found === undefined) {
      const end = last ? this.#pending.length : heldBackFrom(this.#pending, tags);
      const text = this.#trimmed(this.#take(end));
      say(parts, type, last && type === "reasoning" ? text.trimEnd() : text);
      return false;
    }
    const before = this.#trimmed(this.#take(found.at));
    const text = before.trimEnd();
    say(parts, type, text);
    this.#take(found.tag.length);
    if (found.tag === CALL) this.#beginCall(before.slice(text.length) + CALL);
    else this.#enter(found.tag === THINK ? "reasoning" : "content");
    return true;
  }

  #advanceCall(parts: StreamPart[], last: boolean): boolean {
    const news: ToolCallNews[] = [];
    const reader = this.#reader;
    this.#take(reader.read(this.#pending, news));
    for (const item of news) parts.push(item.type === "name" ? { type: "call", name: item.name } : item);
    if (reader.status === "complete") {
      this.#calls++;
      parts.push({ type: "call-end", how: "complete", raw: this.#opening + reader.raw, rest: "" });
      if (this.#options.single === true) this.#state = "over";
      else if (this.#options.family === "llama") this.#state = "bare";
      else this.#state = "after-call";
      return true;
    }
    if (reader.status === "open" && !last) return false;
    if (reader.told) return this.#breakOff(parts);
    // No call: its opening is text, and what follows may hold tags.
    this.#pending = reader.raw + this.#pending;
    this.#state = "content";
    this.#trimStart = false;
    say(parts, "content", this.#opening);
    return true;
  }

  /** The call was told of, and is none or ends within. */
  #breakOff(parts: StreamPart[]): boolean {
    const { raw, status } = this.#reader;
    if (status === "open") {
      parts.push({ type: "call-end", how: "cut", raw: this.#opening + raw, rest: "" });
      this.#enter("content");
      return false;
    }
    // The letter that broke it is the first of the rest.
    this.#opening += raw.slice(0, -1);
    this.#pending = raw.slice(-1) + this.#pending;
    this.#state = "broken";
    return true;
  }

  #advanceBroken(parts: StreamPart[], last: boolean): boolean {
    const at = this.#options.family === "llama" ? -1 : this.#pending.indexOf(CALL_END);
    if (at < 0 && !last) return false;
    const rest = this.#take(at < 0 ? this.#pending.length : at);
    const tag = this.#take(at < 0 ? 0 : CALL_END.length);
    const inArguments = this.#reader.inArguments;
    // Arguments go on as they are written, but for the brace that ends the call itself.
    if (inArguments) say(parts, "arguments", rest.trimEnd().replace(/\s*\}$/, ""));
    const raw = this.#opening + rest + tag;
    parts.push({ type: "call-end", how: "malformed", raw, rest: inArguments ? "" : rest + tag });
    this.#enter("content");
    return true;
  }

  /** The call itself is whole; its tag may follow. */
  #advanceAfterCall(last: boolean): boolean {
    const rest = this.#pending.trimStart();
    if (!last && rest.length < CALL_END.length && CALL_END.startsWith(rest)) return false;
    this.#pending = rest.startsWith(CALL_END) ? rest.slice(CALL_END.length) : rest;
    this.#enter("content");
    return true;
  }

  /** Whether a call without tags around it begins. */
  #advanceBare(parts: StreamPart[], last: boolean): boolean {
    const [space = ""] = (this.#calls === 0 ? /^\s*/ : /^\s*;?\s*/).exec(this.#pending) ?? [];
    const rest = this.#pending.slice(space.length);
    if (!last && rest.length < PYTHON_TAG.length && PYTHON_TAG.startsWith(rest)) return false;
    const tag = rest.startsWith(PYTHON_TAG) ? PYTHON_TAG : "";
    if (tag !== "" || rest.startsWith("{")) {
      this.#beginCall(this.#take(space.length + tag.length));
      return true;
    }
    this.#state = "content";
    this.#trimStart = this.#calls > 0;
    return true;
  }

  #beginCall(opening: string): void {
    const { toolNames } = this.#options;
    const bare = this.#options.family === "llama" && !opening.includes(PYTHON_TAG);
    this.#reader = new ToolCallReader((name) => !bare || toolNames === undefined || toolNames.includes(name));
    this.#opening = opening;
    this.#state = "call";
  }

  #enter(state: "content" | "reasoning"): void {
    this.#state = state;
    this.#trimStart = true;
  }

  /** Takes the first letters away from what is pending. */
  #take(letters: number): string {
    const taken = this.#pending.slice(0, letters);
    this.#pending = this.#pending.slice(letters);
    return taken;
  }

  #trimmed(text: string): string {
    if (!this.#trimStart) return text;
    const trimmed = text.trimStart();
    if (trimmed !== "") this.#trimStart = false;
    return trimmed;
  }
}

function say(parts: StreamPart[], type: "content" | "reasoning" | "arguments", text: string): void {
  if (text !== "") parts.push({ type, text });
}
