import { describe, expect, it } from "vitest";
import { countVerdicts, rewardMetrics } from "../../../engine/training/verdicts.ts";
import { noVerdict, score } from "../fake-control-plane.ts";

const none = { judged: 0, missing: 0 };

describe("verdicts", () => {
  it("counts over the whole run and fails past the share with the first cause", () => {
    const first = countVerdicts(none, [score(1), score(1), score(1), noVerdict()], 0.3);
    expect(first).toEqual({ judged: 4, missing: 1 });
    expect(() =>
      countVerdicts(first, [score(1), noVerdict("reward_failed", "boom"), noVerdict()], 0.3),
    ).toThrow(
      expect.objectContaining({
        code: "reward_failed",
        message: expect.stringContaining(
          '3 of 7 verdicts are missing, more than the 30 % allowed. Reward "quality"',
        ) as string,
      }),
    );
  });

  it("fails at once when nothing was judged", () => {
    expect(() => countVerdicts(none, [noVerdict()], 0.99)).toThrow(
      expect.objectContaining({ code: "reward_timeout" }),
    );
    expect(countVerdicts(none, [noVerdict()], 1)).toEqual({ judged: 1, missing: 1 });
  });

  it("averages over the verdicts there are", () => {
    expect(rewardMetrics([score(1), noVerdict(), score(3)])).toEqual({
      missing_verdicts: 1,
      "reward/mean": 2,
      "reward/std": 1,
      "reward/quality": 2,
    });
    expect(rewardMetrics([noVerdict()], "eval/")).toEqual({ "eval/missing_verdicts": 1 });
  });
});
