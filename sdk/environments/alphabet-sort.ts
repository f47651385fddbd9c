/**
 * `alphabet-sort`: sort names, then sort in more of them, for several turns. The score of a turn is how alike the
 * answer and the right list are; the whole is their mean.
 *
 * @module
 */
import { environment } from "../environment.ts";
import { reward } from "../reward.ts";
import type { ChatMessage } from "../schema/rollout.ts";
import { similarity, taggedText } from "./answer.ts";
import { readArgs } from "./args.ts";
import { createRandom } from "./random.ts";
import { NAMES } from "./words.ts";

interface Task {
  /** The names of each turn. */
  turns: string[][];
  power: number;
  powerPerTurn: boolean;
}

const TAG = "alphabetical_sorted";

/**
 * Args, all optional: `min_turns` and `max_turns` (3, 3), `min_names_per_turn` and `max_names_per_turn` (1, 4),
 * `similarity_power` (4: a list that is nearly right is worth little), `power_per_turn` (true: of each turn's
 * similarity, false: of their mean), `num_examples` (1,000), `seed`.
 */
export const alphabetSort = environment<Task, { turn: number }>({
  description: "Sort names in alphabetical order, more of them every turn.",
  load(given) {
    const args = readArgs("alphabet-sort", given);
    const { min_turns: fewest = 3, min_names_per_turn: least = 1 } = args;
    const random = createRandom(args.seed ?? 1_337_420);
    return Array.from({ length: args.num_examples ?? 1_000 }, () => {
      const turns = random.int(fewest, Math.max(fewest, args.max_turns ?? 3));
      const sizes = Array.from({ length: turns }, () =>
        random.int(least, Math.max(least, args.max_names_per_turn ?? 4)),
      );
      const names = random.some(
        NAMES,
        sizes.reduce((sum, size) => sum + size, 0),
      );
      return {
        turns: sizes.map((size) => names.splice(0, size)),
        power: args.similarity_power ?? 4,
        powerPerTurn: args.power_per_turn ?? true,
      };
    });
  },
  setup: ({ turns }) => ({
    messages: [{ role: "user", content: question(turns[0] ?? [], true) }],
    state: { turn: 1 },
  }),
  step({ row, state }) {
    const next = row.turns[state.turn];
    if (next === undefined) return { done: true };
    return {
      done: false,
      state: { turn: state.turn + 1 },
      messages: [{ role: "user", content: question(next, false) }],
    };
  },
  rewards: {
    sorted: reward(
      { description: "mean of the turns' similarity to the sorted list" },
      ({ row }, messages) => {
        const { turns, power, powerPerTurn } = row as unknown as Task;
        const answers = messages.filter(({ role }) => role === "assistant");
        const scores = turns.map((_, turn) => {
          const right = turns
            .slice(0, turn + 1)
            .flat()
            .sort();
          const alike = similarity(listOf(answers[turn]), right);
          return powerPerTurn ? alike ** power : alike;
        });
        const mean = scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
        return powerPerTurn ? mean : mean ** power;
      },
    ),
  },
});

function question(names: readonly string[], isFirst: boolean): string {
  const list = names.join(", ");
  return isFirst
    ? `Sort these names in alphabetical order: ${list}\nWrite one a line between <${TAG}> and </${TAG}>.`
    : `Sort these in as well, and write the whole list again: ${list}`;
}

function listOf(answer: ChatMessage | undefined): string[] {
  const content = typeof answer?.content === "string" ? answer.content : "";
  const text = taggedText(content, TAG) ?? "";
  return text.split(/[\n,]/).flatMap((line) => line.trim() || []);
}
