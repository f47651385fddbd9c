import { describe, expect, it } from "vitest";
import { groupAdvantages } from "../../../../engine/training/advantages/grpo.ts";

const none = undefined;

describe("group advantages", () => {
  it.each([
    { what: "centred only", rewards: [1, 3], std: false, expected: [-1, 1] },
    { what: "over the population's std", rewards: [1, 3], std: true, expected: [-1 / 1.0001, 1 / 1.0001] },
    { what: "unequal", rewards: [0, 0, 3], std: false, expected: [-1, -1, 2] },
    { what: "no verdict takes no part", rewards: [1, none, 3], std: false, expected: [-1, none, 1] },
    { what: "a flat group tells nothing", rewards: [2, 2, 2], std: true, expected: [none, none, none] },
    { what: "rounding is not a difference", rewards: [0.1 + 0.2, 0.3], std: true, expected: [none, none] },
    { what: "one verdict has no group", rewards: [1, none, none], std: true, expected: [none, none, none] },
    { what: "no verdict at all", rewards: [none, none], std: true, expected: [none, none] },
    { what: "what overflows", rewards: [1e308, -1e308], std: true, expected: [none, none] },
    { what: "what is not finite", rewards: [1, Infinity, 3], std: false, expected: [-1, none, 1] },
    { what: "empty", rewards: [], std: true, expected: [] },
  ])("$what", ({ rewards, std, expected }) => {
    const advantages = groupAdvantages(rewards, std);
    expect(advantages.map((value) => value?.toFixed(9))).toEqual(expected.map((value) => value?.toFixed(9)));
  });
});
