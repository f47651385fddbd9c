import { expect, it } from "vitest";
import { askJudge } from "../../../functions/user-code/ask-judges.ts";
import { MOCK_JUDGE_URL, mockJudge } from "../../../functions/user-code/mock-judge.ts";

const schema = {
  type: "object",
  properties: { quality: { type: "integer", enum: [1, 2, 3, 4, 5] }, isRight: { type: "boolean" } },
  required: ["quality", "isRight"],
  additionalProperties: false,
};

let spenders = 0;

function ask(prompt: string, more: object = {}) {
  const secrets = { OPENAI_BASE_URL: MOCK_JUDGE_URL };
  return askJudge(
    { model: "any", prompt, ...more },
    { secrets, spender: `mock ${spenders++}`, fetch: mockJudge },
  );
}

it("gives verdicts that fit their schema, the same for the same question and others for others", async () => {
  const prompts = Array.from({ length: 40 }, (_, index) => `How good is answer ${index}?`);
  const verdicts = await Promise.all(prompts.map((prompt) => ask(prompt, { schema })));
  for (const verdict of verdicts)
    expect(verdict).toEqual({
      value: {
        quality: expect.toSatisfy((value: number) => [1, 2, 3, 4, 5].includes(value)) as number,
        isRight: expect.any(Boolean) as boolean,
      },
    });
  expect(new Set(verdicts.map((verdict) => JSON.stringify(verdict))).size).toBe(10);
  // Of another model, so that it is asked anew.
  expect(await ask("How good is answer 7?", { schema, model: "other" })).toEqual(verdicts[7]);
});

it("answers with the usual score where no schema is given, and keeps to what a question must be", async () => {
  expect(await ask("Good?")).toEqual({
    value: { score: expect.toSatisfy((score: number) => score === 0 || score === 1) as number },
  });
  expect(await ask("")).toEqual({ error: expect.stringContaining("prompt") as string });
});
