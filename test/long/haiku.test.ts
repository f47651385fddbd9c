import { describe, expect, it } from "vitest";
import { runHaiku } from "../e2e/run-example.ts";

describe("the demo", () => {
  it("teaches: the score rises twice, and poems keep to their topic", { timeout: 420_000 }, async () => {
    const { code, result } = await runHaiku([]);
    expect(code).toBe(0);
    const { base, trained, continued } = result;
    for (const score of [base, trained, continued]) expect(score.n).toBeGreaterThanOrEqual(240);
    expect(trained.mean - base.mean).toBeGreaterThanOrEqual(1);
    expect(continued.mean - trained.mean).toBeGreaterThanOrEqual(0.4);
    expect(trained.topicShare).toBeGreaterThanOrEqual(base.topicShare - 0.03);
    expect(continued.topicShare).toBeGreaterThanOrEqual(base.topicShare - 0.03);
  });
});
