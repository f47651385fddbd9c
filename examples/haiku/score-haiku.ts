/**
 * How far a text is from a 5-7-5 haiku. No model, no network: a dictionary and arithmetic.
 *
 * @module
 */
import { dictionary } from "cmu-pronouncing-dictionary";

/** What a text that does not have exactly three lines scores. */
export const NOT_A_HAIKU = -10;

const TARGETS = [5, 7, 5] as const;

/**
 * Scores a haiku: 0 is perfect, each syllable too many or too few on a line costs 1, and a text that does not
 * have three non-blank lines scores {@link NOT_A_HAIKU}.
 *
 * @example
 * scoreHaiku("an old silent pond\na frog jumps into the pond\nsplash silence again"); // 0
 */
export function scoreHaiku(text: string): number {
  const lines = text.split("\n").filter((line) => !BLANK.test(line));
  if (lines.length !== TARGETS.length) return NOT_A_HAIKU;
  // 0 minus the sum, not its negation: a perfect poem scores 0, never "-0".
  return TARGETS.reduce((score, target, i) => score - Math.abs(countSyllables(lines[i] ?? "") - target), 0);
}

/** Syllables in a line: the sum over its words, where a word is a run of the letters a to z. */
export function countSyllables(text: string): number {
  return (text.match(/[a-zA-Z]+/g) ?? []).reduce((sum, word) => sum + syllablesOf(word.toLowerCase()), 0);
}

/** Whether a text names a topic as a word of its own, in any case: "Rain!" names "rain", "train" does not. */
export function namesTopic(text: string, topic: string): boolean {
  const words = (value: string) => ` ${(value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ")} `;
  const wanted = words(topic);
  return wanted.trim() !== "" && words(text).includes(wanted);
}

// What Python's str.strip() removes, so that both languages agree on which lines are blank.
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

const pronunciations: Readonly<Record<string, string>> = dictionary;

function syllablesOf(word: string): number {
  // hasOwn, because "constructor" is a word too.
  const listed = Object.hasOwn(pronunciations, word) ? pronunciations[word] : undefined;
  if (listed !== undefined) return vowelsOf(listed);
  let count = word.match(/[aeiouy]+/g)?.length ?? 0;
  if (word.endsWith("e") && count > 1) count -= 1;
  return Math.max(count, 1);
}

/** A vowel carries its stress as a final digit ("F AY1 ER0"); some entries end in a "# comment". */
function vowelsOf(pronunciation: string): number {
  let count = 0;
  // Not a regular expression: this is what judging a poem spends its time on.
  for (let i = 0; i < pronunciation.length; i++) {
    if (pronunciation.charCodeAt(i) <= NINE && pronunciation.charCodeAt(i) >= ZERO) {
      const next = pronunciation[i + 1];
      if (next === undefined || next === " ") count += 1;
    }
  }
  return count;
}

const ZERO = "0".charCodeAt(0);
const NINE = "9".charCodeAt(0);
