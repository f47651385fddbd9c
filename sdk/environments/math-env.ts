/**
 * `math-env`: answer a question with a number, in `\boxed{}` or as the last number of the answer. The bundled
 * questions have one step.
 *
 * @module
 */
import { environment } from "../environment.ts";
import { reward } from "../reward.ts";
import { readArgs } from "./args.ts";
import { createRandom, type Random } from "./random.ts";
import { NAMES } from "./words.ts";

interface Task {
  question: string;
  answer: string;
}

/** Args, all optional: `count` (1,000), `seed`, `highest` (20: the largest number in a question), `system`. */
export const mathEnv = environment<Task & { system: string }>({
  description: "Answer a question with a number.",
  load(given) {
    const args = readArgs("math-env", given);
    const random = createRandom(args.seed ?? 0);
    const { system = "Think, then give the answer in \\boxed{}." } = args;
    return Array.from({ length: args.count ?? 1_000 }, () => ({
      ...problem(random, args.highest ?? 20),
      system,
    }));
  },
  setup: ({ question, system }) => ({
    messages: [
      ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
      { role: "user" as const, content: question },
    ],
    state: null,
  }),
  rewards: {
    correct: reward({ description: "1 if the number is right" }, ({ row, response }) =>
      numberIn(response.content) === Number(row["answer"]) ? 1 : 0,
    ),
  },
});

function problem(random: Random, highest: number): Task {
  const name = random.pick(NAMES);
  const [a, b] = [random.int(1, highest), random.int(1, highest)];
  const kinds: [string, number][] = [
    [`What is ${a} + ${b}?`, a + b],
    [`${name} has ${a} apples and buys ${b} more. How many apples does ${name} have?`, a + b],
    [`${name} has ${a + b} coins and spends ${b}. How many coins are left?`, a],
    [`A box holds ${a} eggs. How many eggs are in ${b} boxes?`, a * b],
  ];
  const [question, answer] = random.pick(kinds);
  return { question, answer: String(answer) };
}

/** In the last `\boxed{}`, else the last number. */
export function numberIn(text: string): number | undefined {
  const boxed = text.match(/\\boxed\{([^{}]*)\}/g)?.at(-1);
  const source = boxed?.slice("\\boxed{".length, -1) ?? text;
  const found = source.match(/-?\d[\d,]*(\.\d+)?/g)?.at(-1);
  return found === undefined ? undefined : Number(found.replaceAll(",", ""));
}
