/**
 * `reverse-text`: write a text backwards, letter by letter. One turn; the score is how much of the answer is right.
 *
 * @module
 */
import { environment } from "../environment.ts";
import { reward } from "../reward.ts";
import { similarity, taggedText } from "./answer.ts";
import { readArgs } from "./args.ts";
import { createRandom } from "./random.ts";
import { SHORT_WORDS } from "./words.ts";

interface Task {
  text: string;
  prompt: string;
  system: string;
}

const TAG = "reversed_text";
const SYSTEM = `Reverse the text letter by letter. Write the answer between <${TAG}> and </${TAG}>.`;

/**
 * Args, all optional: `texts` (default: `count` made-up ones of `words` words, by `seed`), `prompt` (`{text}` is
 * filled in; default the bare text) and `system` (default: asks for the tag; an empty text leaves it out).
 */
export const reverseText = environment<Task>({
  description: "Write a text backwards, letter by letter.",
  load(given) {
    const args = readArgs("reverse-text", given);
    const random = createRandom(args.seed ?? 0);
    const made = () => Array.from({ length: args.words ?? 4 }, () => random.pick(SHORT_WORDS)).join(" ");
    const texts = args.texts ?? Array.from({ length: args.count ?? 1_000 }, made);
    const { prompt = "{text}", system = SYSTEM } = args;
    return texts.map((text) => ({ text, prompt: prompt.replaceAll("{text}", text), system }));
  },
  setup: ({ prompt, system }) => ({
    messages: [
      ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
      { role: "user" as const, content: prompt },
    ],
    state: null,
  }),
  rewards: {
    similarity: reward(
      { description: "longest common subsequence of the answer and the text backwards, from 0 to 1" },
      ({ row, response }) => {
        const backwards = [...String(row["text"])].reverse();
        const answer = taggedText(response.content, TAG) ?? untagged(row, response.content);
        return similarity([...answer], backwards);
      },
    ),
  },
});

/** Where the tag was asked for, an answer without it is no answer. */
function untagged(row: Record<string, unknown>, content: string): string {
  return row["system"] === SYSTEM ? "" : content.trim();
}
