/**
 * `wordle`: guess a word of five letters in six turns. After each guess every letter is marked: G in its place, Y
 * elsewhere in the word, X not in it.
 *
 * @module
 */
import { environment } from "../environment.ts";
import { reward } from "../reward.ts";
import type { ChatMessage } from "../schema/rollout.ts";
import { taggedText } from "./answer.ts";
import { readArgs } from "./args.ts";
import { createRandom } from "./random.ts";
import { FIVE_LETTERS } from "./words.ts";

interface Task {
  secret: string;
}

const GUESSES = 6;
const RULES =
  `Guess a word of five letters. You have ${GUESSES} guesses; write each between <guess> and </guess>. ` +
  "After a guess each of its letters is marked: G if it is in its place, Y if it is elsewhere in the word, X if it is not in it.";

/** Args, all optional: `words` (default: a bundled list), `num_train_examples` (2,000), `seed`. */
export const wordle = environment<Task, { guesses: number }>({
  description: "Guess a word of five letters in six turns.",
  load(given) {
    const args = readArgs("wordle", given);
    const words = (args.words ?? FIVE_LETTERS).map((word) => word.toLowerCase());
    const wrong = words.filter((word) => !/^[a-z]{5}$/.test(word));
    if (wrong.length > 0 || words.length === 0)
      throw new TypeError(
        `args of wordle: words must have five letters each${wrong.length > 0 ? `; not so ${wrong.slice(0, 5).join(", ")}` : ""}`,
      );
    const random = createRandom(args.seed ?? 0);
    return Array.from({ length: args.num_train_examples ?? 2_000 }, () => ({ secret: random.pick(words) }));
  },
  setup: () => ({ messages: [{ role: "user", content: RULES }], state: { guesses: 0 } }),
  step({ row, state, response }) {
    const guess = guessIn(response.content);
    const guesses = state.guesses + 1;
    const isOver = guess === row.secret || guesses === GUESSES;
    if (isOver) return { done: true };
    const said =
      guess === undefined
        ? "That is no word of five letters between <guess> and </guess>."
        : `${[...guess].join(" ").toUpperCase()}\n${marksOf(guess, row.secret).join(" ")}`;
    const left = GUESSES - guesses;
    const content = `${said}\n${left === 1 ? "One guess is" : `${left} guesses are`} left.`;
    return { done: false, state: { guesses }, messages: [{ role: "user", content }] };
  },
  rewards: {
    solved: reward({ description: "1 if the word was found" }, ({ row }, messages) =>
      guessesIn(messages).includes(String(row["secret"])) ? 1 : 0,
    ),
    early: reward(
      { description: "1 divided by the number of guesses, if the word was found" },
      ({ row }, messages) => {
        const at = guessesIn(messages).indexOf(String(row["secret"]));
        return at === -1 ? 0 : 1 / (at + 1);
      },
    ),
    close: reward(
      { weight: 0.5, description: "letters of the best guess: 0.2 in its place, 0.1 elsewhere" },
      ({ row }, messages) => {
        const scores = guessesIn(messages).map((guess) => worthOf(guess, String(row["secret"])));
        return Math.max(0, ...scores);
      },
    ),
    form: reward({ weight: 0.2, description: "share of answers that hold a guess" }, (_args, messages) => {
      const answers = messages.filter(({ role }) => role === "assistant");
      return guessesIn(messages).length / Math.max(1, answers.length);
    }),
  },
});

/** Marks of a guess as the game gives them: a letter is marked as often as the secret has it, places first. */
export function marksOf(guess: string, secret: string): ("G" | "Y" | "X")[] {
  const left = [...secret].filter((letter, at) => letter !== guess[at]);
  return [...guess].map((letter, at) => {
    if (letter === secret[at]) return "G";
    const found = left.indexOf(letter);
    if (found === -1) return "X";
    left.splice(found, 1);
    return "Y";
  });
}

function worthOf(guess: string, secret: string): number {
  const worth = { G: 0.2, Y: 0.1, X: 0 };
  return marksOf(guess, secret).reduce((sum, mark) => sum + worth[mark], 0);
}

function guessesIn(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap(({ role, content }) => {
    const guess = role === "assistant" && typeof content === "string" ? guessIn(content) : undefined;
    return guess ?? [];
  });
}

function guessIn(content: string): string | undefined {
  const text = taggedText(content, "guess")
    ?.replace(/[[\]\s]/g, "")
    .toLowerCase();
  return text !== undefined && /^[a-z]{5}$/.test(text) ? text : undefined;
}
