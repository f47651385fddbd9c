/**
 * How long the built command line takes to resolve a configuration of three files, from its start to its end, the
 * files of the dry run included. The bar is 150 ms.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exec, median, type Figures } from "./figures.ts";

const root = join(import.meta.dirname, "..");
const ROUNDS = 20;

export async function run(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), "spotter-bench-resolve-"));
  try {
    writeFileSync(join(folder, "overlay.toml"), 'max_steps = 25\n\n[wandb]\nname = "bench"\n');
    writeFileSync(join(folder, "trainer.toml"), "[optim]\nlr = 1e-5\n");
    const words = ["rl", "@", join(root, "examples/reverse_text/rl.toml"), "@", join(folder, "overlay.toml")];
    words.push("--trainer", "@", join(folder, "trainer.toml"));
    words.push("--output-dir", join(folder, "out"), "--dry-run", "--json");
    // The first round fills the caches and is not counted.
    await wall(words);
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await wall(words));
    log(`${ROUNDS} rounds, from ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`);
    return { wallMs: median(times), bestMs: Math.min(...times) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function wall(words: readonly string[]): Promise<number> {
  const bin = join(root, "dist/sdk/cli/bin.js");
  const { code, stdout, stderr, elapsedMs } = await exec(process.execPath, [bin, ...words]);
  if (code !== 0) throw new Error(`It did not resolve:\n${stderr}${stdout}`);
  const { config } = JSON.parse(stdout) as { config: { max_steps: number } };
  if (config.max_steps !== 25) throw new Error("The overlay was not heard.");
  return elapsedMs;
}
