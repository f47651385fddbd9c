import { describe, expect, it } from "vitest";
import { completionOf, tokensOf } from "../../../functions/teachers/question.ts";

const score = {
  kind: "score" as const,
  sequences: [
    [5, 6],
    [7, 8, 9],
  ],
};
const logprobs = (tokens: string[], values: (number | null)[]) => ({ tokens, token_logprobs: values });

describe("a question to a teacher", () => {
  it("is a completion of no tokens that echoes its prompt with log-probabilities", () => {
    expect(completionOf(score, "sage")).toEqual({
      model: "sage",
      prompt: score.sequences,
      max_tokens: 0,
      echo: true,
      logprobs: 0,
      return_tokens_as_token_ids: true,
    });
    expect(completionOf({ kind: "read", text: "hm" }, "sage")).toMatchObject({ prompt: "hm", max_tokens: 0 });
    const sampling = { maxTokens: 9, temperature: 0.7, topP: 0.9, topK: 0, seed: 3 };
    const answer = completionOf({ kind: "answer", prompts: [[1]], ...sampling }, "sage");
    expect(answer).toMatchObject({ prompt: [[1]], max_tokens: 9, temperature: 0.7, top_p: 0.9, seed: 3 });
    // A server of OpenAI's own kind has no such field.
    expect(answer).not.toHaveProperty("top_k");
  });

  it("is answered in the order of its texts, the first token of each with 0", () => {
    const choices = [
      { index: 1, logprobs: logprobs(["", "", ""], [null, -1, null]) },
      { index: 0, logprobs: logprobs(["", ""], [null, -3]) },
    ];
    expect(tokensOf(score, { choices })).toEqual([
      { ids: [5, 6], logprobs: [0, -3] },
      { ids: [7, 8, 9], logprobs: [0, -1, -10_000] },
    ]);
  });

  it("tells tokens by their ids where the teacher chose them", () => {
    const choices = [
      { index: 0, finish_reason: "stop", logprobs: logprobs(["token_id:4", "token_id:2"], [-1, -2]) },
    ];
    expect(tokensOf({ kind: "read", text: "hm" }, { choices })).toEqual([{ ids: [4, 2], logprobs: [0, -2] }]);
    const answer = { maxTokens: 9, temperature: 1, topP: 1, topK: 0, seed: 3, prompts: [[1]] };
    expect(tokensOf({ kind: "answer", ...answer }, { choices })).toEqual([
      { ids: [4, 2], logprobs: [-1, -2], isEnded: true },
    ]);
  });

  it.each([
    ["no completion", { object: "list" }, "no completion"],
    ["too few", { choices: [{ index: 0, logprobs: logprobs([], []) }] }, "2 texts and answered 1"],
    ["no log-probabilities", { choices: [{ index: 0 }, { index: 1 }] }, "no log-probabilities"],
  ])("refuses %s", (_, answer, message) => {
    expect(() => tokensOf(score, answer)).toThrow(
      expect.objectContaining({
        code: "teacher_failed",
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it("refuses tokens by their text, which is not exact", () => {
    const choices = [{ index: 0, logprobs: logprobs(["hm"], [-1]) }];
    expect(() => tokensOf({ kind: "read", text: "hm" }, { choices })).toThrow("return_tokens_as_token_ids");
  });
});
