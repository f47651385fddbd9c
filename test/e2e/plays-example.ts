import { expect } from "vitest";
import { Run } from "../../sdk/index.ts";
import { runCli } from "../sdk/cli/run-cli.ts";

/** Flags for one small step. */
export const FEW = ["--max-steps", "1", "--orchestrator.batch-size", "8", "--orchestrator.group-size", "4"];

/** Takes a step of an example as its file stands but for the model, and expects conversations of several turns. */
export async function expectPlays(example: string): Promise<void> {
  const words = ["rl", "@", `examples/${example}/rl.toml`, "--model.name", "spotter/nano", ...FEW, "--json"];
  const { code, out } = await runCli(words);
  expect(code).toBe(0);
  const { run, findings } = JSON.parse(out) as {
    run: { id: string };
    findings: { code: string; path: string }[];
  };
  expect(findings).toContainEqual(expect.objectContaining({ code: "clamped", path: "seq_len" }));
  const rollouts = await (await Run.get(run.id)).rollouts(1);
  const environments = rollouts.map(({ environment }) => environment);
  expect(environments).toEqual(Array<string>(8).fill(example.replace("_", "-")));
  expect(Math.max(...rollouts.map(({ turns = 1 }) => turns))).toBeGreaterThan(1);
}
