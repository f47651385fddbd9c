import { expect, it } from "vitest";
import { asksUngranted, judgeServer } from "../../../sdk/schema/judge-grants.ts";

it("asks OpenAI with a key, any other server without one", () => {
  expect(judgeServer({})).toMatchObject({ fault: expect.stringContaining("OPENAI_API_KEY") as string });
  expect(judgeServer({ OPENAI_BASE_URL: "https://api.openai.com/v1/" }).fault).toBeDefined();
  expect(judgeServer({ OPENAI_API_KEY: "k" })).toEqual({ base: "https://api.openai.com/v1" });
  expect(judgeServer({ OPENAI_BASE_URL: "http://127.0.0.1:1/v1/" })).toEqual({
    base: "http://127.0.0.1:1/v1",
  });
});

it.each([
  ["a call", "x = await llm_judge(prompt, secrets=args.secrets)", true],
  ["an import alone", "from rnow.core import llm_judge", false],
  ["a comment", "  # llm_judge(prompt)", false],
  ["a key of its own", 'await llm_judge(p, api_key="k")', false],
  ["a setting of its own", 'await llm_judge(p, secrets={"OPENAI_API_KEY": KEY})', false],
])("misses a secret in Python by what is written there: %s", (_, source, expected) => {
  expect(asksUngranted(["", source], ["OTHER"])).toBe(expected);
  expect(asksUngranted([source], ["LLM_JUDGE_API_KEY"])).toBe(false);
});
