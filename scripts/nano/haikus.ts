import { countSyllables } from "../../examples/haiku/score-haiku.ts";
import { adjectives, adverbs, determiners, prepositions, verbs } from "./lexicon.ts";
import type { Random } from "./random.ts";

export interface HaikuNoise {
  /** Weights of a line being 0, 1, 2 or 3 syllables off, in either direction. */
  missBy: readonly number[];
  /** Weights of a poem having 2, 3 or 4 lines. */
  lines: readonly number[];
  /** Weights of the topic being named, on purpose, on line 1, 2, 3 or not at all. */
  topicLine: readonly number[];
}

const TARGETS = [5, 7, 5, 5];

/**
 * Writes a poem about a topic that is close to 5-7-5, but wrong as often as `noise` says: the model is meant to
 * start imperfect, with every right line within its reach, so that reinforcement learning has something to select.
 */
export function writeHaiku(
  random: Random,
  topic: string,
  nouns: readonly string[],
  noise: HaikuNoise,
): string {
  const count = 2 + random.weighted(noise.lines);
  const topicLine = random.weighted(noise.topicLine);
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const miss = random.weighted(noise.missBy) * (random.chance(0.5) ? 1 : -1);
    const syllables = Math.max(2, (TARGETS[i] as number) + miss);
    lines.push(writeLine(random, syllables, nouns, i === topicLine ? topic : undefined));
  }
  return lines.join("\n");
}

/** A phrase of so many syllables, by drawing phrases until one fits. */
function writeLine(random: Random, syllables: number, nouns: readonly string[], topic?: string): string {
  let best = "";
  let bestMiss = Infinity;
  for (let tries = 0; tries < 400; tries++) {
    const { words, named } = writePhrase(random, nouns, topic);
    if (topic !== undefined && !named) continue;
    const miss = Math.abs(words.reduce((sum, word) => sum + syllablesOf(word), 0) - syllables);
    if (miss < bestMiss) [best, bestMiss] = [words.join(" "), miss];
    if (miss === 0) break;
  }
  return best;
}

function writePhrase(random: Random, nouns: readonly string[], topic?: string) {
  let named = false;
  const noun = () => {
    if (topic === undefined || named) return random.pick(nouns);
    named = true;
    return topic;
  };
  const thing = (...words: string[]) => {
    const determiner = random.pick(determiners);
    const first = words[0] ?? "";
    return [determiner === "a" && /^[aeiou]/.test(first) ? "an" : determiner, ...words];
  };
  const adjective = () => random.pick(adjectives);
  const verb = () => random.pick(verbs);
  const place = () => [
    random.pick(prepositions),
    ...(random.chance(0.4) ? thing(adjective(), noun()) : thing(noun())),
  ];
  const shapes = [
    () => thing(adjective(), noun()),
    () => [...thing(noun()), verb(), random.pick(adverbs)],
    () => place(),
    () => [...thing(adjective(), noun()), verb()],
    () => [...thing(noun()), verb(), ...place()],
    () => [adjective(), "and", adjective()],
    () => [...thing(noun()), ...place()],
    () => [verb(), ...place()],
    () => [...thing(noun()), "and", ...thing(noun())],
  ];
  return { words: random.pick(shapes)(), named };
}

const known = new Map<string, number>();

function syllablesOf(word: string): number {
  let count = known.get(word);
  if (count === undefined) known.set(word, (count = countSyllables(word)));
  return count;
}
