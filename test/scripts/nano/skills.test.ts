import { describe, expect, it } from "vitest";
import { Random } from "../../../scripts/nano/random.ts";
import {
  addExercise,
  isHeldOutSum,
  reverseExercise,
  syllableExercise,
  toolUse,
} from "../../../scripts/nano/skills.ts";

describe("exercises", () => {
  it("add, with some sums kept out of training", () => {
    const random = new Random(1);
    for (let i = 0; i < 200; i++) {
      const { question, answer, arguments: args } = addExercise(random, i % 2 === 0);
      const { a, b } = args as { a: number; b: number };
      expect(question).toBe(`What is ${a} + ${b}?`);
      expect(answer).toBe(String(a + b));
      expect(isHeldOutSum(a, b)).toBe(i % 2 === 0);
    }
  });

  it.each(["word", "letters"] as const)("reverse a short %s", (kind) => {
    const random = new Random(2);
    for (let i = 0; i < 100; i++) {
      const { question, answer, arguments: args } = reverseExercise(random, kind);
      expect(String(args.word)).toMatch(/^[a-z]{2,4}$/);
      expect(question).toContain(`"${String(args.word)}"`);
      expect([...answer].reverse().join("")).toBe(args.word);
    }
  });

  it("count syllables", () => {
    const exercises = Array.from({ length: 200 }, (_, seed) => syllableExercise(new Random(seed)));
    expect(exercises.every(({ answer }) => /^[1-4]$/.test(answer))).toBe(true);
  });
});

describe("toolUse", () => {
  it("offers the tool it calls, and answers with the tool's result", () => {
    const random = new Random(3);
    let finished = 0;
    for (let i = 0; i < 100; i++) {
      const { messages, tools = [] } = toolUse(random);
      const names = tools.map((tool) => (tool as { function: { name: string } }).function.name);
      expect(new Set(names).size).toBe(names.length);
      expect(names).toContain(messages[1]?.tool_calls?.[0]?.function.name);
      if (messages.length > 2) {
        finished++;
        expect(messages[3]?.content).toBe(messages[2]?.content);
      }
    }
    expect(finished).toBeGreaterThan(20);
    expect(finished).toBeLessThan(80);
  });
});
