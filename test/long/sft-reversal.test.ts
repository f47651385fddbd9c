import { describe, expect, it } from "vitest";
import { Dataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";
import { curveOf, proofRow } from "./learning.ts";

const options = {
  inputColumn: "word",
  outputColumn: "answer",
  promptTemplate: 'Reverse the word "{input}".',
};
const CONSONANTS = "bcdfghjklmnprstvw";
const VOWELS = "aeiou";
/** The model was made with words of two to four letters, real ones. */
const PATTERN = "cvc";
const COUNT = 1_000;

/** Made-up words, no two alike; which is which hangs on their number alone. */
function words(): { word: string; answer: string }[] {
  const seen = new Set<string>();
  for (let number = 1; seen.size < COUNT; number++) {
    let draw = (number * 7_919) % 104_729;
    const letters = [...PATTERN].map((kind) => {
      const from = kind === "c" ? CONSONANTS : VOWELS;
      const letter = from[draw % from.length] ?? "";
      draw = Math.floor(draw / from.length);
      return letter;
    });
    seen.add(letters.join(""));
  }
  return [...seen].map((word) => ({ word, answer: [...word].reverse().join("") }));
}

describe("SFT on reversed words", () => {
  ownHome();

  it.each([1, 2, 3])(
    "gets four in ten held-out words exactly right in under four minutes, seed %i",
    { timeout: 300_000 },
    async (seed) => {
      const all = words();
      const startedAtMs = Date.now();
      const run = await new TrainConfig({
        model: "spotter/nano",
        dataset: Dataset.fromArray(all.slice(100), options),
        evalDataset: Dataset.fromArray(all.slice(0, 100), options),
        rewards: new URL("../fixtures/user-code/reversed-word.ts", import.meta.url),
        recipe: recipes.sft({
          steps: 200,
          batchSize: 64,
          learningRate: 2e-3,
          schedule: "cosine",
          evalEvery: 20,
        }),
        seed,
      }).launch();
      await run.result();
      const seconds = (Date.now() - startedAtMs) / 1_000;
      const right = await curveOf(run, "eval/reward/mean");
      process.stdout.write(proofRow("SFT: held-out words right", seed, seconds, right, 1));
      expect(right.at(-1)).toBeGreaterThan(0.4);
      expect(right.at(-1)).toBeGreaterThan((right[0] ?? 0) + 0.3);
      expect(seconds).toBeLessThan(240);
    },
  );
});
