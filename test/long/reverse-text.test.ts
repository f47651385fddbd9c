import { describe, expect, it } from "vitest";
import { Run } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";
import { runCli } from "../sdk/cli/run-cli.ts";

/** Steps at the beginning and at the end whose rewards are compared. */
const STEPS = 8;

describe("examples/reverse_text on this machine", () => {
  ownHome();

  it("learns to reverse words within three minutes (B48)", { timeout: 240_000 }, async () => {
    const startedMs = performance.now();
    const words = [
      "rl",
      "@",
      "examples/reverse_text/rl.toml",
      "@",
      "examples/reverse_text/nano.toml",
      "--json",
    ];
    const { code, out } = await runCli(words);
    expect(code).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(180_000);
    const { run } = JSON.parse(out) as { run: { id: string } };
    const means: number[] = [];
    for await (const { body } of (await Run.get(run.id)).events())
      if (body.type === "metrics" && body.metrics["reward/mean"] !== undefined)
        means.push(body.metrics["reward/mean"]);
    const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const [before, after] = [meanOf(means.slice(0, STEPS)), meanOf(means.slice(-STEPS))];
    process.stdout.write(
      `reverse-text: ${before.toFixed(2)} to ${after.toFixed(2)} in ${means.length} steps\n`,
    );
    expect(after - before).toBeGreaterThan(0.1);
  });
});
