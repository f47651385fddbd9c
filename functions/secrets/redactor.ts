/** Replaces known secret values in text. */
export interface Redactor {
  add: (value: string) => void;
  redact: (text: string) => string;
}

/** Shorter values would blank out ordinary words, and whoever guesses can guess them anyway. */
export const MIN_HIDDEN_LENGTH = 6;
/** A line of a longer secret, such as a key file; shorter ones may be any word. */
const MIN_LINE_LENGTH = 12;
const MASK = "[redacted]";

/**
 * Hides values as they are, as they look inside a JSON string (also one within another), as they look inside a
 * URL, and line by line, because logs split what has several lines. A value that was encoded or cut up by the
 * code that got it is not found.
 */
export function createRedactor(values: Iterable<string> = [], mask = MASK): Redactor {
  const forms = new Set<string>();
  let longestFirst: string[] = [];
  const add = (value: string) => {
    const lines = value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH);
    for (const part of [value, ...(lines.length > 1 ? lines : [])]) {
      if (part.length < MIN_HIDDEN_LENGTH) continue;
      const quoted = jsonForm(part);
      for (const form of [part, quoted, jsonForm(quoted), urlForm(part)]) forms.add(form);
    }
    // A secret that contains another one must go first, or its rest would stay readable.
    longestFirst = [...forms].sort((a, b) => b.length - a.length);
  };
  for (const value of values) add(value);
  return {
    add,
    redact: (text) => longestFirst.reduce((result, form) => result.replaceAll(form, mask), text),
  };
}

function jsonForm(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function urlForm(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
