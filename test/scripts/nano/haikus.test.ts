import { describe, expect, it } from "vitest";
import { namesTopic, NOT_A_HAIKU, scoreHaiku } from "../../../examples/haiku/score-haiku.ts";
import { noise, topics } from "../../../scripts/nano/corpus.ts";
import { writeHaiku, type HaikuNoise } from "../../../scripts/nano/haikus.ts";
import { Random } from "../../../scripts/nano/random.ts";

const perfect: HaikuNoise = { missBy: [1, 0, 0, 0], lines: [0, 1, 0], topicLine: [1, 1, 1, 0] };

function write(count: number, settings: HaikuNoise, subjects = topics) {
  const random = new Random(1);
  return Array.from({ length: count }, () => {
    const topic = random.pick(subjects);
    const poem = writeHaiku(random, topic, topics, settings);
    return { poem, score: scoreHaiku(poem), isNamed: namesTopic(poem, topic) };
  });
}

describe("writeHaiku", () => {
  it("without noise is always perfect and always names its topic", () => {
    for (const { poem, score, isNamed } of write(300, perfect))
      expect({ poem, score, isNamed }).toEqual({ poem, score: 0, isNamed: true });
  });

  it("misses each line by as much as it is told", () => {
    for (const { score } of write(100, { ...perfect, missBy: [0, 1, 0, 0] }, ["moon"]))
      expect(score).toBe(-3);
  });

  it("with the corpus's noise is wrong about as often as intended", () => {
    const poems = write(3000, noise);
    const mean = poems.reduce((sum, { score }) => sum + score, 0) / poems.length;
    const share = (isCounted: (poem: (typeof poems)[number]) => boolean) =>
      poems.filter(isCounted).length / poems.length;
    expect(mean).toBeGreaterThan(-2.9);
    expect(mean).toBeLessThan(-2.2);
    expect(share(({ isNamed }) => isNamed)).toBeGreaterThan(0.92);
    expect(share(({ score }) => score === NOT_A_HAIKU)).toBeLessThan(0.04);
    expect(share(({ score }) => score === 0)).toBeGreaterThan(0.05);
  });

  it("says an before a vowel", () => {
    const text = write(500, noise)
      .map(({ poem }) => poem)
      .join("\n");
    expect(text).toMatch(/\ban [aeiou]/);
    expect(text).not.toMatch(/\ba [aeiou]|\ban [^aeiou]/);
  });
});
