import { describe, expect, it } from "vitest";
import { countSyllables } from "../../../examples/haiku/score-haiku.ts";
import { heldOutWords, promptTemplate, trainWords } from "../../../examples/haiku/words.ts";

describe("the haiku words", () => {
  it("are disjoint, without repeats, and enough to measure on", () => {
    expect(new Set([...trainWords, ...heldOutWords]).size).toBe(trainWords.length + heldOutWords.length);
    expect(heldOutWords.length).toBeGreaterThanOrEqual(30);
    expect(trainWords.length).toBeGreaterThanOrEqual(100);
  });

  it("fit into a line of five syllables", () => {
    for (const word of [...trainWords, ...heldOutWords]) {
      expect(word).toMatch(/^[a-z]+$/);
      expect(countSyllables(word)).toBeLessThanOrEqual(4);
    }
  });

  it("fill the prompt of the tutorial", () => {
    expect(promptTemplate.replace("{input}", "rain")).toBe("Write a haiku about rain.");
  });
});
