import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Environment } from "../../../sdk/environment.ts";
import type { ChatMessage } from "../../../sdk/schema/rollout.ts";
import type { RewardArgs } from "../../../sdk/reward.ts";
import { alphabetSort } from "../../../sdk/environments/alphabet-sort.ts";
import { similarity, taggedText } from "../../../sdk/environments/answer.ts";
import { builtInEnvironment, BUILT_IN_ENVIRONMENTS } from "../../../sdk/environments/index.ts";
import { mathEnv, numberIn } from "../../../sdk/environments/math-env.ts";
import { reverseText } from "../../../sdk/environments/reverse-text.ts";
import { marksOf, wordle } from "../../../sdk/environments/wordle.ts";

/** Plays an episode with scripted answers and gives the scores of all rewards. */
async function play<Row, State>(environment: Environment<Row, State>, row: Row, answers: string[]) {
  const begun = await environment.setup(row);
  const messages: ChatMessage[] = [...begun.messages];
  let { state } = begun;
  let content = "";
  for (const answer of answers) {
    content = answer;
    messages.push({ role: "assistant", content });
    const response = { content, reasoning: "", toolCalls: [] };
    const turn = await environment.step?.({ row, state, messages, response });
    if (turn === undefined || turn.done) break;
    messages.push(...(turn.messages ?? []));
    state = turn.state ?? state;
  }
  const args = {
    row: row as Record<string, unknown>,
    metadata: {},
    variables: {},
    secrets: {},
    response: { content, reasoning: "", toolCalls: [] },
    completion: { tokens: 1, finishReason: "stop" },
  } satisfies RewardArgs;
  const scores = await Promise.all(
    Object.entries(environment.rewards).map(
      async ([name, judge]) => [name, await judge(args, messages)] as const,
    ),
  );
  return { messages, scores: Object.fromEntries(scores) };
}

const load = async <Row>(environment: Environment<Row, never>, args: Record<string, unknown>) => [
  ...(await environment.load(args)),
];

describe("built-in environments", () => {
  it("are found by id, with or without an owner and a version, and nothing else is", () => {
    for (const id of BUILT_IN_ENVIRONMENTS) {
      for (const spelling of [id, `${id}-v1`, `primeintellect/${id}`, `primeintellect/${id}@0.1.0`]) {
        const found = builtInEnvironment(spelling);
        expect(existsSync(found?.file ?? "")).toBe(true);
      }
    }
    for (const id of ["gsm8k", "", "a/b/wordle", "constructor", "../wordle"])
      expect(builtInEnvironment(id)).toBeUndefined();
  });

  it.each([
    ["reverse-text", reverseText],
    ["alphabet-sort", alphabetSort],
    ["wordle", wordle],
    ["math-env", mathEnv],
  ])("%s draws the same tasks for the same seed, and names every wrong arg", async (name, given) => {
    const environment = given as Environment<never, never>;
    const first = await load(environment, { seed: 3 });
    expect(first.length).toBeGreaterThanOrEqual(1_000);
    expect(await load(environment, { seed: 3 })).toEqual(first);
    expect(await load(environment, { seed: 4 })).not.toEqual(first);
    expect(() => environment.load({ seed: "x", sead: 1 })).toThrow(
      new RegExp(`^args of ${name}: seed must be a number; unknown key "sead"`),
    );
  });
});

describe("reverse-text", () => {
  it("scores how much of the answer is right, and only between the tags that it asks for", async () => {
    const [row] = await load(reverseText as Environment<never, never>, { texts: ["abcd"] });
    const score = async (answer: string) =>
      (await play(reverseText as never, row, [answer])).scores["similarity"];
    expect(await score("<reversed_text>dcba</reversed_text>")).toBe(1);
    expect(await score("<reversed_text>dcab</reversed_text>")).toBe(0.75);
    expect(await score("dcba")).toBe(0);
  });

  it("asks as it is told to", async () => {
    const args = { texts: ["rain"], prompt: 'Reverse the word "{text}".', system: "" };
    const [row] = await load(reverseText as Environment<never, never>, args);
    const { messages, scores } = await play(reverseText as never, row, ["niar"]);
    expect(messages[0]).toEqual({ role: "user", content: 'Reverse the word "rain".' });
    expect(scores["similarity"]).toBe(1);
  });
});

describe("alphabet-sort", () => {
  const row = { turns: [["Uma", "Ben"], ["Ada"]], power: 2, powerPerTurn: true };
  const tagged = (names: string) =>
    `<alphabetical_sorted>\n${names.replaceAll(" ", "\n")}\n</alphabetical_sorted>`;

  it("asks for more names every turn and scores each", async () => {
    const right = await play(alphabetSort, row, [tagged("Ben Uma"), tagged("Ada Ben Uma")]);
    expect(right.scores["sorted"]).toBe(1);
    expect(right.messages[2]?.content).toContain("Ada");
    const half = await play(alphabetSort, row, [tagged("Ben Uma"), "no idea"]);
    expect(half.scores["sorted"]).toBe(0.5);
    const mean = await play(alphabetSort, { ...row, powerPerTurn: false }, [tagged("Ben Uma"), "no idea"]);
    expect(mean.scores["sorted"]).toBe(0.25);
  });
});

describe("wordle", () => {
  const guess = (word: string) => `<guess>[${word}]</guess>`;

  it("marks letters as often as the secret has them", () => {
    expect(marksOf("geese", "eagle").join("")).toBe("YYXXG");
    expect(marksOf("eagle", "eagle").join("")).toBe("GGGGG");
    expect(marksOf("otter", "mouse").join("")).toBe("YXXYX");
  });

  it("ends when the word is found, and pays early finds more", async () => {
    const { messages, scores } = await play(wordle, { secret: "river" }, [
      guess("raven"),
      "hm",
      guess("RIVER"),
    ]);
    expect(messages[2]?.content).toContain("R A V E N\nG X G G X");
    expect(messages[4]?.content).toContain("That is no word of five letters");
    expect(scores).toMatchObject({ solved: 1, early: 0.5, close: 1 });
    expect(scores["form"]).toBeCloseTo(2 / 3);
  });

  it("ends after six guesses", async () => {
    const { messages, scores } = await play(
      wordle,
      { secret: "river" },
      Array<string>(9).fill(guess("mouse")),
    );
    expect(messages.filter(({ role }) => role === "assistant").length).toBe(6);
    expect(scores).toMatchObject({ solved: 0, early: 0 });
    expect(() => wordle.load({ words: ["four"] })).toThrow("words must have five letters each; not so four");
  });
});

describe("math-env", () => {
  it("takes the boxed number, else the last one", async () => {
    expect(numberIn("\\boxed{1,234.5} and 7")).toBe(1234.5);
    expect(numberIn("it is 3, or -4.")).toBe(-4);
    expect(numberIn("none")).toBeUndefined();
    const row = { question: "What is 2 + 3?", answer: "5", system: "" };
    expect((await play(mathEnv, row, ["so \\boxed{5}"])).scores).toEqual({ correct: 1 });
    expect((await play(mathEnv, row, ["6"])).scores).toEqual({ correct: 0 });
  });

  it("has questions whose answers are right", async () => {
    for (const { question, answer } of [...(await mathEnv.load({ count: 50 }))]) {
      const numbers = question.match(/\d+/g)?.map(Number) ?? [];
      const [a = 0, b = 0] = numbers;
      expect([a + b, a - b, a * b]).toContain(Number(answer));
    }
  });
});

describe("similarity", () => {
  it("is 1 for what is equal, and for nothing at all", () => {
    expect(similarity("", "")).toBe(1);
    expect(similarity("abcd", "abdc")).toBe(0.75);
    expect(similarity("ab", "")).toBe(0);
    expect(taggedText("<a>1</a> <a> 2 </a>", "a")).toBe("2");
    expect(taggedText("<a>1", "a")).toBeUndefined();
  });
});
