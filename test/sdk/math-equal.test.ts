import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { mathEqual } from "../../sdk/index.ts";

interface Pair {
  group: string;
  expected: string;
  answer: string;
  verdict: boolean;
  disagreement?: string;
}

const table = JSON.parse(
  readFileSync(new URL("../fixtures/math/math-verify.json", import.meta.url), "utf8"),
) as { package: string; version: string; pairs: Pair[] };

describe("mathEqual", () => {
  it("judges as math-verify does, but for the pairs that say why", () => {
    const wrong = table.pairs.filter(({ expected, answer, verdict, disagreement }) => {
      return mathEqual(expected, answer) !== (disagreement === undefined ? verdict : !verdict);
    });
    expect(wrong).toEqual([]);
  });

  it("agrees with math-verify on at least 97 of 100 pairs", () => {
    const { pairs } = table;
    expect(pairs.length).toBeGreaterThanOrEqual(200);
    expect(pairs.filter(({ verdict }) => !verdict).length).toBeGreaterThan(60);
    const agreed = pairs.filter(({ disagreement }) => disagreement === undefined).length;
    expect(agreed / pairs.length).toBeGreaterThanOrEqual(0.97);
  });

  it.each([
    ["\\frac{1}{2}", "0.5"],
    ["\\frac12", "\\dfrac{2}{4}"],
    ["2*pi", "6.283185307"],
    ["\\sqrt{2}", "sqrt(2)"],
    ["x^2 - 1", "(x-1)(x+1)"],
    ["√8", "2√2"],
    ["½", "0.5"],
    ["π/2", "\\frac{\\pi}{2}"],
    ["{1, 2}", "\\{2, 1\\}"],
    ["(-\\infty, 3]", "x ≤ 3"],
  ] as const)("reads LaTeX without delimiters and what keyboards write: %s is %s", (expected, answer) => {
    // An interval is not answered with an inequality, which is the other way round.
    expect(answer.startsWith("x ≤") ? mathEqual(answer, expected) : mathEqual(expected, answer)).toBe(true);
  });

  it.each([
    ["Yes", "yes.", true],
    ["Yes", "no", false],
    ["42", "", false],
    ["", "", false],
    ["42", "I do not know.", false],
    ["\\boxed{", "5", false],
  ] as const)("%s and %s, which are hardly mathematics: %s", (expected, answer, is) => {
    expect(mathEqual(expected, answer)).toBe(is);
  });

  it("takes numbers as they are", () => {
    expect(mathEqual(42, "The answer is 42.")).toBe(true);
    expect(mathEqual(0.5, "$\\frac12$")).toBe(true);
  });

  it.each([
    ["e^{-1000}", "e^{-1001}", false],
    ["e^{-100}", "e^{-101}", false],
    ["e^{-1000}", "e^{-1000}", true],
    ["e^{-1000}", "0", false],
    ["10^{-400}x", "5 \\cdot 10^{-400}x", false],
    ["10^{-400}x", "10^{-400}x", true],
    ["10^{-20}x", "5 \\cdot 10^{-20}x", false],
    ["10^{-20}x", "\\frac{x}{10^{20}}", true],
    ["10^{400}x", "5 \\cdot 10^{400}x", false],
    ["x = y", "10^{20}x^2 = y", false],
  ] as const)(
    "is not deceived by numbers that are next to nothing, or huge: %s and %s",
    (expected, answer, is) => {
      expect(mathEqual(expected, answer)).toBe(is);
    },
  );

  it.each([
    ["\\sin \\pi", "0"],
    ["\\ln 1", "0"],
    ["\\lfloor \\frac{1}{2} \\rfloor", "0"],
    ["x - x", "0"],
    ["xy - yx", "0"],
    ["\\sin^2 x + \\cos^2 x - 1", "0"],
    ["\\sqrt{2} - \\sqrt{2}", "0"],
  ])("knows a real 0 where rounding leaves a little of it: %s", (expected, answer) => {
    expect(mathEqual(expected, answer)).toBe(true);
  });

  it.each([
    ["\\int_0^1 x", "1"],
    ["\\int_0^1 x \\, dx", "1"],
    ["\\int_0^1 2x^2", "2"],
    ["The answer is \\int_0^1 x", "1"],
    ["\\lim_{x \\to 0} x", "0"],
    ["\\lim_{n = 3} n", "3"],
    ["\\sum_{n=1}^{\\infty} \\frac{1}{n^2}", "2"],
    ["∫_0^1 x", "1"],
  ])("does not take a bound or a part of %s for its value", (operator, number) => {
    expect(mathEqual(operator, number)).toBe(false);
    expect(mathEqual(number, operator)).toBe(false);
    expect(mathEqual(operator, operator)).toBe(true);
  });

  it.each([
    ["So \\int_0^1 x dx = 1/2", "\\frac12"],
    ["The integral \\int_0^1 x dx gives 0.5", "0.5"],
    ["\\sum_{i=1}^{4} i", "10"],
    ["\\lim_{x \\to 0} x\nThis is 7", "7"],
  ])("takes what is said after it: %s is %s", (text, number) => {
    expect(mathEqual(number, text)).toBe(true);
  });

  it("knows that what nobody works out is itself, and nothing else", () => {
    const choice = "\\binom{1000000}{500000}";
    expect(mathEqual(choice, choice)).toBe(true);
    expect(mathEqual(choice, "\\binom{1000000}{499999}")).toBe(false);
    expect(mathEqual(choice, "2")).toBe(false);
  });

  it.each([
    ["f(x)=import(1)", "cross(1)"],
    ["f(x)=import(1)", "f(x)=cross(1)"],
    ["import(1)", "cross([1, 2], [1, 2])"],
  ])("does not take %s and %s for the number that is in both", (expected, answer) => {
    expect(mathEqual(expected, answer)).toBe(false);
  });

  it("throws for nothing that a reward may hand over", () => {
    // Rewards are plain JavaScript at the end: what types forbid comes all the same.
    const equal = mathEqual as (...values: unknown[]) => boolean;
    const silent = {
      toString() {
        throw new Error("no text");
      },
    };
    expect(equal("1", "1", null)).toBe(true);
    expect(equal("1", silent)).toBe(false);
    expect(equal(silent, silent)).toBe(false);
    expect(equal(Object.create(null), "1")).toBe(false);
    expect(equal(undefined, "1")).toBe(false);
    expect(equal("\\frac13", "0.333333", { decimals: Number.NaN, tolerance: "a lot" })).toBe(true);
    expect(equal("0.5", "\\frac12", { decimals: 1_000 })).toBe(true);
  });

  it("compares as exactly as it is told", () => {
    expect(mathEqual("$\\pi$", "3.14")).toBe(false);
    expect(mathEqual("$\\pi$", "3.14", { decimals: 2 })).toBe(true);
    expect(mathEqual("$\\pi$", "3.15", { decimals: 2 })).toBe(false);
    expect(mathEqual("100", "101", { tolerance: 1 })).toBe(true);
    expect(mathEqual("100", "102", { tolerance: 1 })).toBe(false);
  });

  it.each([
    ["a tower of powers", "$9^{9^{9^{9}}}$"],
    ["a power of a power", "$((9^{2000})^{2000})^{2000}$"],
    ["brackets within brackets", `$${"(".repeat(1_900)}1${")".repeat(1_900)}$`],
    ["signs in a row", `$${"-".repeat(3_900)}1$`],
    ["a large factorial", "$999999999!$"],
    ["many ways to choose", "$\\binom{999999999}{499999999}$"],
    ["sums of sums", "$\\sum_{i=1}^{200}\\sum_{j=1}^{200}\\sum_{k=1}^{200} i$"],
    ["a long list", `$${Array.from({ length: 1_500 }, (_, index) => index % 10).join(",")}$`],
    ["boxes that never close", "\\boxed{".repeat(1_400)],
    ["a long answer", "1+".repeat(20_000)],
  ])("is done at once with %s", (_, answer) => {
    const start = performance.now();
    expect(mathEqual("7", answer)).toBe(false);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
