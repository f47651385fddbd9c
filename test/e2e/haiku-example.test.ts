import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runHaiku } from "./run-example.ts";

describe("examples/haiku", () => {
  it("goes through the whole loop, with the plain reward too, and leaves nothing running", async () => {
    const home = mkdtempSync(join(tmpdir(), "spotter-haiku-test-"));
    onTestFinished(() => rmSync(home, { recursive: true }));
    const { code, text, result } = await runHaiku(["--quick", "--plain-reward", "--home", home]);
    expect(code).toBe(0);
    expect(Object.keys(result)).toEqual(["base", "trained", "continued", "seconds", "runIds"]);
    for (const score of [result.base, result.trained, result.continued]) {
      expect(Object.keys(score).sort()).toEqual(["high", "low", "mean", "n", "topicShare"]);
      expect(score.n).toBe(8);
      expect(score.mean).toBeLessThanOrEqual(0);
    }
    expect(new Set(result.runIds).size).toBe(2);
    expect(text).toContain(`SPOTTER_HOME=${home} npx spotter run watch ${result.runIds[0]}`);
    expect(text).toMatch(
      /MODEL +HAIKU SCORE +95 % INTERVAL +POEMS +NAMES THE TOPIC\nbase .*\ntrained .*\ncontinued /,
    );
    expect(existsSync(join(home, "state.db"))).toBe(true);
    expect(existsSync(join(home, "daemon.json"))).toBe(false);
  });
});
