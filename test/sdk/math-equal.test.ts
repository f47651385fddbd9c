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
