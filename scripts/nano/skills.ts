import { countSyllables } from "../../examples/haiku/score-haiku.ts";
import { heldOutWords, trainWords } from "../../examples/haiku/words.ts";
import { ask, exchange, type Conversation } from "./conversation.ts";
import { adjectives, adverbs, verbs } from "./lexicon.ts";
import type { Random } from "./random.ts";

/** A question with one right answer, and the tool that would answer it. */
export interface Exercise {
  question: string;
  answer: string;
  tool: "add" | "reverse" | "count_syllables";
  arguments: Record<string, unknown>;
}

const words = [...trainWords, ...heldOutWords, ...adjectives, ...verbs, ...adverbs];
const shortWords = words.filter((word) => word.length <= 4);

/** One sum in seven is kept out of training, so that scores show more than memory. */
export const isHeldOutSum = (a: number, b: number): boolean => (3 * a + 5 * b) % 7 === 0;

const definitions: Record<Exercise["tool"], unknown> = {
  add: define("add", "Adds two numbers.", { a: "number", b: "number" }),
  reverse: define("reverse", "Reverses a word.", { word: "string" }),
  count_syllables: define("count_syllables", "Counts syllables.", { word: "string" }),
};

export function addExercise(random: Random, isHeldOut: boolean): Exercise {
  for (;;) {
    const [a, b] = [random.int(0, 10), random.int(0, 10)];
    if (isHeldOutSum(a, b) !== isHeldOut) continue;
    return { question: `What is ${a} + ${b}?`, answer: String(a + b), tool: "add", arguments: { a, b } };
  }
}

/** A word of the lexicon of up to four letters, or any two or three letters. */
export function reverseExercise(random: Random, kind: "word" | "letters"): Exercise {
  const word = kind === "word" ? random.pick(shortWords) : anyLetters(random);
  return {
    question: `Reverse the word "${word}".`,
    answer: [...word].reverse().join(""),
    tool: "reverse",
    arguments: { word },
  };
}

export function syllableExercise(random: Random): Exercise {
  const word = random.pick(words);
  return {
    question: `How many syllables are in "${word}"?`,
    answer: String(countSyllables(word)),
    tool: "count_syllables",
    arguments: { word },
  };
}

export function addition(random: Random): Conversation {
  const { question, answer } = addExercise(random, false);
  return exchange(question, answer);
}

export function reversal(random: Random): Conversation {
  const { question, answer } = reverseExercise(random, random.chance(0.7) ? "word" : "letters");
  return exchange(question, answer);
}

/** Offers tools; the right one is called, and its result becomes the answer. */
export function toolUse(random: Random): Conversation {
  const exercise = toolExercise(random);
  const call = { function: { name: exercise.tool, arguments: exercise.arguments } };
  const { messages } = ask(exercise.question);
  messages.push({ role: "assistant", content: "", tool_calls: [call] });
  if (random.chance(0.5)) {
    messages.push(
      { role: "tool", content: exercise.answer },
      { role: "assistant", content: exercise.answer },
    );
  }
  return { messages, tools: offerTools(random, exercise.tool) };
}

export function toolExercise(random: Random, isHeldOut = false): Exercise {
  const kind = random.int(0, 2);
  if (kind === 0) return addExercise(random, isHeldOut);
  return kind === 1 ? reverseExercise(random, "word") : syllableExercise(random);
}

/** One or two tool definitions in any order, the wanted one among them. */
export function offerTools(random: Random, wanted: Exercise["tool"]): unknown[] {
  const names = [wanted];
  const other = random.pick(Object.keys(definitions) as Exercise["tool"][]);
  if (other !== wanted) names.splice(random.int(0, 1), 0, other);
  return names.map((name) => definitions[name]);
}

function define(name: string, description: string, parameters: Record<string, string>): unknown {
  const properties = Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, { type }]));
  return {
    type: "function",
    function: {
      name,
      description,
      parameters: { type: "object", properties, required: Object.keys(parameters) },
    },
  };
}

function anyLetters(random: Random): string {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  return Array.from({ length: random.int(2, 3) }, () => letters[random.int(0, 25)]).join("");
}
