import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Problem, problems } from "../../../examples/gsm8k/generate.ts";
import { finalNumber } from "../../../examples/gsm8k/rewards.ts";

const rowsOf = (name: string) =>
  readFileSync(new URL(`../../../examples/gsm8k/${name}.jsonl`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Problem);
const { train, heldOut } = problems();
/** `3+4`: what a problem comes down to. */
const sumOf = ({ answer }: Problem) => /<<(\d+[+-]\d+)=/.exec(answer)?.[1] ?? "";

describe("the problems", () => {
  it("are those that the script writes", () => {
    expect(rowsOf("train")).toEqual(train);
    expect(rowsOf("heldout")).toEqual(heldOut);
  });

  it("have the form of gsm8k, and the right number behind ####", () => {
    for (const problem of [...train, ...heldOut]) {
      const [, a = "", sign, b = "", result] =
        /^(\d+) ([+-]) (\d+) = <<\1\2\3=(\d+)>>\4\n#### \4$/.exec(problem.answer) ?? [];
      expect(sign === "+" ? Number(a) + Number(b) : Number(a) - Number(b)).toBe(Number(result));
      expect(finalNumber(problem.answer)).toBe(Number(result));
      expect(problem.question).toMatch(new RegExp(`\\b${a}\\b[^]*\\b${b}\\b[^]*\\?$`));
    }
  });

  it("are held out by their stories: each question is new, its numbers are not", () => {
    const trained = new Set(train.map(({ question }) => question));
    expect(heldOut.filter(({ question }) => trained.has(question))).toEqual([]);
    const sums = new Set(train.map(sumOf));
    expect(heldOut.filter((problem) => !sums.has(sumOf(problem)))).toEqual([]);
    expect(trained.size).toBe(train.length);
    expect(heldOut.length).toBeGreaterThan(40);
  });
});

describe("the number of an answer", () => {
  it.each([
    ["3 + 4 = <<3+4=7>>7\n#### 7", 7],
    ["#### 1,250", 1250],
    ["#### -3.5\n", -3.5],
    ["#### 3 apples", undefined],
    ["#### 3\nno, wait", undefined],
    ["7", undefined],
    ["", undefined],
  ])("of %j is %s", (text, number) => {
    expect(finalNumber(text)).toBe(number);
  });
});
