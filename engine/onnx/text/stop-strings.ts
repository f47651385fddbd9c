/**
 * Looks for stop strings in text that arrives in pieces. What may be the beginning of one is held back until
 * it is clear; the stop string itself and all after it never come out.
 */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = "";
  #stopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  /** Whether a stop string was seen. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Adds text and returns what is certain to come before any stop string. */
  push(text: string): string {
    if (this.#stopped) return "";
    if (this.#stops.length === 0) return text;
    const pending = this.#held + text;
    const at = firstIndex(pending, this.#stops);
    if (at !== undefined) {
      this.#stopped = true;
      this.#held = "";
      return pending.slice(0, at);
    }
    const safe = pending.length - longestBeginning(pending, this.#stops);
    this.#held = pending.slice(safe);
    return pending.slice(0, safe);
  }

  /** What was held back, once nothing more comes. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** Where the stop string begins that is complete first, however the text was cut; of several the longest. */
function firstIndex(text: string, stops: readonly string[]): number | undefined {
  let first: { start: number; end: number } | undefined;
  for (const stop of stops) {
    const start = text.indexOf(stop);
    if (start < 0) continue;
    const end = start + stop.length;
    if (first === undefined || end < first.end || (end === first.end && start < first.start))
      first = { start, end };
  }
  return first?.start;
}

/** Length of the longest end of the text that is a beginning of a stop string. */
function longestBeginning(text: string, stops: readonly string[]): number {
  const most = Math.min(text.length, Math.max(...stops.map((stop) => stop.length)) - 1);
  for (let length = most; length > 0; length--) {
    const tail = text.slice(text.length - length);
    if (stops.some((stop) => stop.startsWith(tail))) return length;
  }
  return 0;
}
