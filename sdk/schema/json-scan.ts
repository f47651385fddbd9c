/**
 * Follows JSON (RFC 8259) letter by letter, so that it is known at once where a value ends and that a text can
 * be none. Not a parser: it keeps nothing of what it reads.
 *
 * @module
 */

type Mode =
  | "value"
  | "first-value"
  | "key"
  | "first-key"
  | "colon"
  | "after"
  | "string"
  | "escape"
  | "hex"
  | "number"
  | "word"
  | "done";

/** What numbers may go on with: the state after each kind of letter. */
const NUMBER: Record<string, { next: Record<string, string>; isWhole: boolean }> = {
  minus: { next: { "0": "zero", d: "integer" }, isWhole: false },
  zero: { next: { ".": "point", e: "exponent" }, isWhole: true },
  integer: { next: { "0": "integer", d: "integer", ".": "point", e: "exponent" }, isWhole: true },
  point: { next: { "0": "fraction", d: "fraction" }, isWhole: false },
  fraction: { next: { "0": "fraction", d: "fraction", e: "exponent" }, isWhole: true },
  exponent: { next: { "+": "sign", "-": "sign", "0": "power", d: "power" }, isWhole: false },
  sign: { next: { "0": "power", d: "power" }, isWhole: false },
  power: { next: { "0": "power", d: "power" }, isWhole: true },
};

const WORDS: Record<string, string> = { t: "true", f: "false", n: "null" };

/** `over`: the value (a number) ended before this letter, which is none of it. `bad`: no JSON goes on so. */
export type ScanResult = "more" | "done" | "over" | "bad";

/** Reads one value, without white space around it. */
export class JsonScan {
  #mode: Mode = "value";
  /** Whether the string being read is a member's name. */
  #inKey = false;
  readonly #open: ("{" | "[")[] = [];
  #number = "";
  /** What is still to come of a word, or how many digits of an escape. */
  #rest = "";

  /** Reads one letter (a UTF-16 unit). Nothing may be read after the end, or after what is bad. */
  push(letter: string): ScanResult {
    const wasNumber = this.#mode === "number" && this.#open.length === 0;
    if (!this.#read(letter)) return wasNumber && this.#mode === "done" ? "over" : "bad";
    if (this.#mode !== "done") return "more";
    return wasNumber ? "over" : "done";
  }

  #read(letter: string): boolean {
    switch (this.#mode) {
      case "string":
        return this.#inString(letter);
      case "escape":
        return this.#escaped(letter);
      case "hex":
        this.#rest = this.#rest.slice(1);
        if (this.#rest === "") this.#mode = "string";
        return /[0-9a-fA-F]/.test(letter);
      case "word":
        return this.#inWord(letter);
      case "number":
        return this.#inNumber(letter);
      default:
        return isSpace(letter) || this.#between(letter);
    }
  }

  #between(letter: string): boolean {
    switch (this.#mode) {
      case "first-value":
        return letter === "]" ? this.#close("[") : this.#begin(letter);
      case "value":
        return this.#begin(letter);
      case "first-key":
        return letter === "}" ? this.#close("{") : this.#key(letter);
      case "key":
        return this.#key(letter);
      case "colon":
        this.#mode = "value";
        return letter === ":";
      case "after":
        if (letter !== ",") return letter === "}" ? this.#close("{") : letter === "]" && this.#close("[");
        this.#mode = this.#open.at(-1) === "{" ? "key" : "value";
        return true;
      default:
        return false;
    }
  }

  #begin(letter: string): boolean {
    if (letter === "{" || letter === "[") {
      this.#open.push(letter);
      this.#mode = letter === "{" ? "first-key" : "first-value";
      return true;
    }
    if (letter === '"') {
      this.#mode = "string";
      this.#inKey = false;
      return true;
    }
    const word = WORDS[letter];
    if (word !== undefined) {
      this.#mode = "word";
      this.#rest = word.slice(1);
      return true;
    }
    this.#mode = "number";
    this.#number = letter === "-" ? "minus" : letter === "0" ? "zero" : "integer";
    return letter === "-" || isDigit(letter);
  }

  #key(letter: string): boolean {
    this.#mode = "string";
    this.#inKey = true;
    return letter === '"';
  }

  #inString(letter: string): boolean {
    if (letter === "\\") this.#mode = "escape";
    else if (letter === '"') {
      if (this.#inKey) this.#mode = "colon";
      else this.#valueEnded();
    }
    return letter >= " ";
  }

  #escaped(letter: string): boolean {
    this.#mode = letter === "u" ? "hex" : "string";
    this.#rest = "0000";
    return '"\\/bfnrtu'.includes(letter);
  }

  #inWord(letter: string): boolean {
    const fits = this.#rest.startsWith(letter);
    this.#rest = this.#rest.slice(1);
    if (this.#rest === "") this.#valueEnded();
    return fits;
  }

  #inNumber(letter: string): boolean {
    const state = NUMBER[this.#number];
    const kind = letter === "E" ? "e" : letter !== "0" && isDigit(letter) ? "d" : letter;
    const next = state?.next[kind];
    if (next !== undefined) {
      this.#number = next;
      return true;
    }
    if (state?.isWhole !== true) return false;
    // The letter after a number is none of it.
    this.#valueEnded();
    return this.#read(letter);
  }

  #close(bracket: "{" | "["): boolean {
    if (this.#open.pop() !== bracket) return false;
    this.#valueEnded();
    return true;
  }

  #valueEnded(): void {
    this.#mode = this.#open.length === 0 ? "done" : "after";
  }
}

function isSpace(letter: string): boolean {
  return letter === " " || letter === "\n" || letter === "\r" || letter === "\t";
}

function isDigit(letter: string): boolean {
  return letter >= "0" && letter <= "9";
}
