import { createParser } from "eventsource-parser";

/** Bytes of a stream that never ends an event are not kept beyond this. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const CARRIAGE_RETURN = 13;
const NEWLINE = 10;
export const DONE_EVENT = Buffer.from("data: [DONE]\n\n");

export interface SseRelayParams {
  /** Choices that the stream is to finish, `n` of the request. */
  choices: number;
}

/**
 * Passes a replica's event stream on, whole events at a time and otherwise byte for byte. What a stream may
 * get wrong is put right on the way: line ends of other systems, events cut anywhere, junk after `[DONE]`, no
 * `[DONE]` after the last choice finished, and errors in shapes of their own.
 */
export class SseRelay {
  /** Nothing follows: `[DONE]` came, or an error. */
  isOver = false;
  /** The JSON of an error event; it is not among the bytes to pass on. */
  errorText: string | undefined;
  /** Events with data so far; each is at least one token. */
  events = 0;
  readonly #choices: number;
  #finished = 0;
  #carry: Buffer | undefined;
  #parse: ((chunk: Buffer) => Buffer) | undefined;
  /** The last events that told of usage, as Latin-1 text. */
  #usageText: string | undefined;

  constructor({ choices }: SseRelayParams) {
    this.#choices = choices;
  }

  /** The events that are complete now; undefined where there is none. */
  feed(chunk: Buffer): Buffer | undefined {
    if (this.isOver) return undefined;
    if (this.#parse !== undefined) return this.#inspect(this.#parse(chunk));
    const data = this.#carry === undefined ? chunk : Buffer.concat([this.#carry, chunk]);
    this.#carry = undefined;
    if (chunk.includes(CARRIAGE_RETURN)) {
      this.#parse = lineParser();
      return this.#inspect(this.#parse(data));
    }
    const end = endOfLastEvent(data);
    if (end < data.length) this.#carry = data.subarray(end);
    if (data.length - end > MAX_EVENT_BYTES) throw new Error("An event of the replica has no end.");
    return end === 0 ? undefined : this.#inspect(end === data.length ? data : data.subarray(0, end));
  }

  /** The replica ended the stream: what is left to pass on. `isOver` stays false if it was cut short. */
  end(): Buffer | undefined {
    if (this.isOver) return undefined;
    const rest = this.#rest();
    const last = rest === undefined ? undefined : this.#inspect(rest);
    if (this.isOver || this.#finished === 0 || this.#finished < this.#choices) return last;
    this.isOver = true;
    return last === undefined ? DONE_EVENT : Buffer.concat([last, DONE_EVENT]);
  }

  /** `usage` as the replica counted, if it did. */
  usage(): unknown {
    return this.#usageText === undefined ? undefined : lastUsage(this.#usageText);
  }

  /** An event that only lacks the blank line behind it. */
  #rest(): Buffer | undefined {
    if (this.#parse !== undefined) return this.#parse(Buffer.from("\n\n"));
    if (this.#carry === undefined) return undefined;
    const whole = Buffer.from(`${this.#carry.toString().trimEnd()}\n\n`);
    const data = /^data: ?(.*)\n\n$/.exec(whole.toString())?.[1];
    return data === "[DONE]" || (data !== undefined && isJson(data)) ? whole : undefined;
  }

  #inspect(events: Buffer): Buffer | undefined {
    if (events.length === 0) return undefined;
    const text = events.toString("latin1");
    // Comments before the first event would be an answer already; our own keep-alive is there for the wait.
    if (this.events === 0 && text.startsWith(":") && !text.includes("\ndata:")) return undefined;
    if (text.includes('"error"')) {
      const at = this.#findError(events);
      if (at !== undefined) return at === 0 ? undefined : events.subarray(0, at);
    }
    const doneAt = findDone(text);
    if (doneAt === undefined) {
      this.#note(text);
      return events;
    }
    this.isOver = true;
    this.#note(text.slice(0, doneAt));
    const end = doneAt + DONE_EVENT.length;
    if (text.startsWith("data: [DONE]\n\n", doneAt))
      return end === events.length ? events : events.subarray(0, end);
    return Buffer.concat([events.subarray(0, doneAt), DONE_EVENT]);
  }

  #note(text: string): void {
    for (let at = text.indexOf("\n\n"); at !== -1; at = text.indexOf("\n\n", at + 2)) this.events++;
    // Escaped quotes keep whatever a model writes from looking like a key.
    for (let at = text.indexOf(FINISH); at !== -1; at = text.indexOf(FINISH, at + FINISH.length))
      if (!isNull(text, at + FINISH.length)) this.#finished++;
    if (text.includes('"usage":') && USAGE.test(text)) this.#usageText = text;
  }

  /** Where the first event begins that is an error in any known shape. */
  #findError(events: Buffer): number | undefined {
    for (let start = 0; start < events.length;) {
      const end = events.indexOf("\n\n", start);
      const next = end === -1 ? events.length : end + 2;
      const data = /^data: ?(.*)\n\n$/.exec(events.toString("utf8", start, next))?.[1];
      if (data !== undefined && isError(data)) {
        this.isOver = true;
        this.errorText = data;
        this.#note(events.toString("latin1", 0, start));
        return start;
      }
      start = next;
    }
    return undefined;
  }
}

const FINISH = '"finish_reason"';
const USAGE = /"usage":\s?\{/;

/** Whether the value of the key that ends here is null; most are, and written without a space. */
function isNull(text: string, at: number): boolean {
  return text.startsWith(":null", at) || /^\s*:\s*null/.test(text.slice(at, at + 10));
}

function endOfLastEvent(data: Buffer): number {
  const { length } = data;
  if (length > 1 && data[length - 1] === NEWLINE && data[length - 2] === NEWLINE) return length;
  const at = data.lastIndexOf("\n\n");
  return at === -1 ? 0 : at + 2;
}

/** Where the line of `[DONE]` begins, if it is a line of its own and not something a model wrote. */
function findDone(text: string): number | undefined {
  for (let at = text.indexOf("[DONE]"); at !== -1; at = text.indexOf("[DONE]", at + 6)) {
    const start = text.lastIndexOf("\n", at) + 1;
    if (/^data: ?$/.test(text.slice(start, at))) return start;
  }
  return undefined;
}

/** Reads any line ends, and events cut within a character, into events as we write them. */
function lineParser(): (chunk: Buffer) => Buffer {
  const decoder = new TextDecoder();
  let out = "";
  const parser = createParser({
    // Line breaks within JSON are white space; an event of ours is one line.
    onEvent: ({ data }) => void (out += `data: ${data.replaceAll("\n", " ")}\n\n`),
  });
  return (chunk) => {
    out = "";
    parser.feed(decoder.decode(chunk, { stream: true }));
    return Buffer.from(out);
  };
}

function isJson(text: string): boolean {
  return parsed(text) !== undefined;
}

function isError(text: string): boolean {
  const value = parsed(text);
  if (typeof value !== "object" || value === null) return false;
  const { error, object } = value as { error?: unknown; object?: unknown };
  return object === "error" || (error !== undefined && error !== null);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function lastUsage(text: string): unknown {
  const event = text
    .split("\n\n")
    .findLast((each) => USAGE.test(each))
    ?.replace(/^data: ?/, "");
  const value = event === undefined ? undefined : parsed(event);
  return typeof value === "object" && value !== null ? (value as { usage?: unknown }).usage : undefined;
}
