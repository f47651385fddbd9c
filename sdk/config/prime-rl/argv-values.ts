import { isTooDeep } from "./files-fault.ts";
import { sectionsIn, type Shape } from "./walk.ts";

/** What a flag can take from the words after it. */
export type Taste =
  | "switch" // nothing, or one of true, false, 1, 0
  | "text" // the next word, whatever it is
  | "word" // the next word, unless it is a flag
  | "section" // nothing, JSON or None
  | "list" // words up to the next flag, or JSON
  | "table" // JSON
  | "free"; // the next word unless it is a flag, as whatever it looks like

export function tasteOf(shape: Shape | undefined): Taste {
  if (shape === undefined || shape.kind === "open") return "free";
  if (shape.kind === "scalar") {
    if (shape.type === "boolean") return "switch";
    return shape.type === "string" ? "text" : "word";
  }
  if (shape.kind === "list") return "list";
  if (shape.kind === "dict") return "table";
  return shape.kind === "choice" ? "word" : "section";
}

/** Whether `--flag @ file` fills what the flag names; else the file is one for the root. */
export function takesFile(shape: Shape | undefined): boolean {
  if (shape === undefined) return true;
  if (shape.kind === "list") return sectionsIn(shape.item) !== undefined;
  return shape.kind === "dict" || shape.kind === "open" || sectionsIn(shape) !== undefined;
}

const SWITCH: Record<string, boolean> = {
  true: true,
  True: true,
  "1": true,
  false: false,
  False: false,
  "0": false,
};

/** What a word after a switch says, if it belongs to the switch. */
export function switchOf(word: string | undefined): boolean | undefined {
  return word !== undefined && Object.hasOwn(SWITCH, word) ? SWITCH[word] : undefined;
}

export function isJsonText(word: string): boolean {
  return /^\s*[[{]/.test(word);
}

/** Parses what a flag gives as JSON. */
export function jsonOf(text: string): { value: unknown } | { why: string } {
  try {
    const value: unknown = JSON.parse(text, (key, item: unknown) => {
      if (key === "__proto__") throw new SyntaxError("__proto__ is no name for a setting");
      if (typeof item === "number" && !Number.isFinite(item)) throw new SyntaxError("a number is too large");
      return item;
    });
    return isTooDeep(value) ? { why: "it is nested too deeply" } : { value };
  } catch (error) {
    return { why: error instanceof RangeError ? "it is nested too deeply" : (error as Error).message };
  }
}

/** A word given for something without a type: true, false, numbers in their usual form, else text. */
export function typedWord(word: string): unknown {
  if (/^(true|false)$/i.test(word)) return word.toLowerCase() === "true";
  if (/^-?(0|[1-9]\d*)$/.test(word)) return Number.isSafeInteger(Number(word)) ? Number(word) : word;
  if (/^-?(0|[1-9]\d*)?(\.\d+|\.?\d*e[+-]?\d+|\.)$/i.test(word)) {
    const number = Number(word);
    return Number.isFinite(number) ? number : word;
  }
  return word;
}
