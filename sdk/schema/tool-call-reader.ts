import { JsonScan } from "./json-scan.ts";

/** News of a call being read: its name once, then its arguments in fragments of JSON text. */
export type ToolCallNews = { type: "name"; name: string } | { type: "arguments"; text: string };

type Place = "start" | "first-key" | "key" | "in-key" | "colon" | "value" | "in-value" | "after";

/**
 * Reads a call as models write it, `{"name": …, "arguments" or "parameters": …}` with members in any order,
 * letter by letter. The name is told when arguments begin, which are then handed on exactly as written:
 * until then it may turn out to be no call at all.
 */
export class ToolCallReader {
  /** `bad`: it is no call, or none any more. */
  status: "open" | "complete" | "bad" = "open";
  /** Everything read. */
  raw = "";
  /** The name was told, which cannot be taken back. */
  told = false;
  readonly #isTool: (name: string) => boolean;
  #place: Place = "start";
  #scan = new JsonScan();
  #key = "";
  #value = "";
  #name: string | undefined;
  /** Of arguments that are an object, what was not handed on yet. */
  #fragment = "";
  #hasArguments = false;

  /** `isTool`: whether there is a tool of a name. Default: there is. */
  constructor(isTool: (name: string) => boolean = () => true) {
    this.#isTool = isTool;
  }

  /** The arguments have begun, and were not at their end. */
  get inArguments(): boolean {
    return this.#place === "in-value" && this.#isArguments();
  }

  /** Reads up to the end of the call, or to what makes it none. Returns how many letters were read. */
  read(text: string, news: ToolCallNews[]): number {
    let at = 0;
    while (at < text.length && this.status === "open") this.#letter(text[at++] ?? "");
    this.raw += text.slice(0, at);
    if (this.status === "complete" && !this.#hasArguments) this.#fragment = "{}";
    if (this.#fragment === "" || this.#name === undefined) return at;
    if (!this.told) news.push({ type: "name", name: this.#name });
    this.told = true;
    news.push({ type: "arguments", text: this.#fragment });
    this.#fragment = "";
    return at;
  }

  #letter(letter: string): void {
    if (this.#place === "in-key") this.#inKey(letter);
    else if (this.#place === "in-value") this.#inValue(letter);
    else if (!isSpace(letter)) this.#mark(letter);
  }

  /** What stands between keys and values. */
  #mark(letter: string): void {
    switch (this.#place) {
      case "start":
        return this.#expect(letter, "{", "first-key");
      case "colon":
        return this.#expect(letter, ":", "value");
      case "first-key":
        return letter === "}" ? this.#complete() : this.#beginKey(letter);
      case "key":
        return this.#beginKey(letter);
      case "after":
        return letter === "}" ? this.#complete() : this.#expect(letter, ",", "key");
      default:
        this.#scan = new JsonScan();
        this.#value = "";
        this.#place = "in-value";
        return this.#inValue(letter);
    }
  }

  #expect(letter: string, expected: string, next: Place): void {
    if (letter === expected) this.#place = next;
    else this.status = "bad";
  }

  #beginKey(letter: string): void {
    this.#scan = new JsonScan();
    this.#key = "";
    if (letter === '"') this.#inKey(letter);
    else this.status = "bad";
  }

  #inKey(letter: string): void {
    this.#key += letter;
    const result = this.#scan.push(letter);
    this.#place = result === "done" ? "colon" : "in-key";
    if (result === "bad") this.status = "bad";
    else if (result === "done") this.#key = JSON.parse(this.#key) as string;
  }

  #inValue(letter: string): void {
    const result = this.#scan.push(letter);
    if (result === "bad") {
      this.status = "bad";
      return;
    }
    if (result !== "over") {
      this.#value += letter;
      if (this.#isArguments() && this.#value.startsWith("{")) this.#fragment += letter;
    }
    if (result === "more") return;
    this.#place = "after";
    this.#endValue();
    if (result === "over") this.#letter(letter);
  }

  #isArguments(): boolean {
    return !this.#hasArguments && (this.#key === "arguments" || this.#key === "parameters");
  }

  #endValue(): void {
    if (this.#isArguments()) {
      this.#hasArguments = true;
      if (!this.#value.startsWith("{")) this.#fragment = argumentsOf(this.#value);
    } else if (this.#key === "name" && this.#name === undefined) {
      const name: unknown = JSON.parse(this.#value);
      if (typeof name === "string" && name !== "" && this.#isTool(name)) this.#name = name;
      else this.status = "bad";
    }
  }

  #complete(): void {
    this.status = this.#name === undefined ? "bad" : "complete";
  }
}

/** Arguments that are no object: some models write the object's JSON once more as a string. */
function argumentsOf(json: string): string {
  const value: unknown = JSON.parse(json);
  if (value === null) return "{}";
  if (typeof value !== "string") return json;
  try {
    return typeof JSON.parse(value) === "object" ? value : json;
  } catch {
    return json;
  }
}

function isSpace(letter: string): boolean {
  return letter === " " || letter === "\n" || letter === "\r" || letter === "\t";
}
