import { describe, expect, it } from "vitest";
import { createMixture, rowGroups } from "../../../engine/training/mixture.ts";

describe("createMixture", () => {
  it("draws in proportion, evenly, and the same wherever it begins", () => {
    const mixture = createMixture([2, 1]);
    const drawn = Array.from({ length: 9 }, (_, position) => mixture.at(position).group);
    expect(drawn.filter((group) => group === 0).length).toBe(6);
    for (let from = 0; from < 9; from += 3) expect(drawn.slice(from, from + 3).sort()).toEqual([0, 0, 1]);
    expect(createMixture([2, 1]).at(8)).toEqual(mixture.at(8));
    expect(createMixture([0.2, 0.1]).at(7).group).toBe(mixture.at(7).group);
  });
});

describe("rowGroups", () => {
  it("leaves out an environment without tasks, so that the others take its place (B27)", () => {
    const row = (environment?: string) => ({ prompt: [], row: {}, ...(environment && { environment }) });
    const environments = [
      { name: "a", ratio: 3 },
      { name: "empty", ratio: 5 },
    ];
    expect(rowGroups([row("a"), row(), row("a")], environments)).toEqual([
      { rows: [0, 2], ratio: 3 },
      { rows: [1], ratio: 1 },
    ]);
  });
});
