import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ownHome } from "../e2e/home.ts";

const preload = new URL("../fixtures/sdk/from-source.ts", import.meta.url).href;
const script = fileURLToPath(new URL("../../examples/gsm8k/run.ts", import.meta.url));

interface Score {
  /** Of all rewards together, at most 1.7. */
  reward: number;
  correct: number;
  form: number;
  n: number;
}

ownHome();

it.each([1, 2, 3])(
  "learns to solve problems that it never saw, seed %i",
  { timeout: 900_000 },
  async (seed) => {
    const args = ["--no-warnings", "--import", preload, script, "--json", "--seed", String(seed)];
    const startedMs = performance.now();
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: process.env });
    const { before, after } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<
      "before" | "after",
      Score
    >;
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    process.stdout.write(
      `gsm8k seed ${seed}: reward ${before.reward.toFixed(2)} to ${after.reward.toFixed(2)}, ` +
        `correct ${before.correct.toFixed(2)} to ${after.correct.toFixed(2)}, in ${seconds} s\n`,
    );
    expect(before.n).toBeGreaterThan(200);
    expect(after.reward - before.reward).toBeGreaterThanOrEqual(0.1);
  },
);
