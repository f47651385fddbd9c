/** Replaces known secret values in text. */
export interface Redactor {
  add: (value: string) => void;
  redact: (text: string) => string;
}

/** Shorter values would blank out ordinary words; secrets worth hiding are longer. */
const MIN_LENGTH = 4;
const MASK = "[redacted]";

/** Hides values as they are, as they look inside a JSON string, and as they look inside a URL. */
export function createRedactor(values: Iterable<string> = []): Redactor {
  const forms = new Set<string>();
  let longestFirst: string[] = [];
  const add = (value: string) => {
    if (value.length < MIN_LENGTH) return;
    for (const form of [value, JSON.stringify(value).slice(1, -1), urlForm(value)]) forms.add(form);
    // A secret that contains another one must go first, or its rest would stay readable.
    longestFirst = [...forms].sort((a, b) => b.length - a.length);
  };
  for (const value of values) add(value);
  return {
    add,
    redact: (text) => longestFirst.reduce((result, form) => result.replaceAll(form, MASK), text),
  };
}

function urlForm(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
