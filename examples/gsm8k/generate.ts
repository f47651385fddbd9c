/**
 * Writes the problems of this example, train.jsonl and heldout.jsonl: one step each, in the format of gsm8k
 * (arXiv:2110.14168), which is a question, and an answer whose calculations stand in <<>> and whose number follows ####.
 *
 *   npx node examples/gsm8k/generate.ts
 *
 * @module
 */
import { writeFileSync } from "node:fs";

export interface Problem {
  question: string;
  answer: string;
}

const NAMES = ["Ada", "Ben", "Ines", "Omar", "Mei", "Tom", "Lena"];
const THINGS = ["apples", "shells", "coins", "cards", "pens"];
const KINDS = [
  { sign: "+", happens: (b: number) => `finds ${b} more` },
  { sign: "+", happens: (b: number) => `buys ${b} more` },
  { sign: "-", happens: (b: number) => `loses ${b}` },
  { sign: "-", happens: (b: number) => `sells ${b}` },
] as const;

/** From 2 on, so that things are always several. */
const LOWEST = 2;
const HIGHEST = 5;
/** Stories about a pair of numbers and one kind. */
const STORIES = 5;

/** All problems. A story in eight is held out: its numbers are known from others, its question is not. */
export function problems(): { train: Problem[]; heldOut: Problem[] } {
  const train: Problem[] = [];
  const heldOut: Problem[] = [];
  let number = 0;
  for (const { sign, happens } of KINDS)
    for (let a = LOWEST; a <= HIGHEST; a++)
      for (let b = 1; b <= HIGHEST; b++) {
        if (sign === "-" && b > a) continue;
        for (let story = 0; story < STORIES; story++) {
          const name = NAMES[number % NAMES.length] ?? "";
          const thing = THINGS[number % THINGS.length] ?? "";
          const result = sign === "+" ? a + b : a - b;
          const step = `${a} ${sign} ${b} = <<${a}${sign}${b}=${result}>>${result}`;
          const problem = {
            question: `${name} has ${a} ${thing} and ${happens(b)}. How many are there now?`,
            answer: `${step}\n#### ${result}`,
          };
          (number++ % 8 === 3 ? heldOut : train).push(problem);
        }
      }
  return { train, heldOut };
}

if (import.meta.main) {
  for (const [name, rows] of Object.entries(problems())) {
    const file = new URL(`./${name.toLowerCase()}.jsonl`, import.meta.url);
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
}
