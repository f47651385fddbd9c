import { describe, expect, it } from "vitest";
import { assistantMessage, rewardRowOf } from "../../engine/reward-row.ts";

const response = { content: "Four.", reasoning: "", toolCalls: [] };

describe("reward rows", () => {
  it("hand out the columns metadata and variables, where they are objects", () => {
    const row = {
      prompt: [{ role: "user", content: "2+2" }],
      row: { metadata: { answer: 4 }, variables: [1] },
    };
    expect(rewardRowOf(row, { response, tokens: 2, finishReason: "stop" })).toEqual({
      row: row.row,
      metadata: { answer: 4 },
      variables: {},
      response,
      completion: { tokens: 2, finishReason: "stop" },
      messages: [...row.prompt, { role: "assistant", content: "Four." }],
    });
  });

  it("write reasoning and tool calls the way chat templates read them", () => {
    const toolCalls = [{ name: "add", arguments: { a: 1 } }];
    expect(assistantMessage({ content: "", reasoning: "Hm.", toolCalls })).toEqual({
      role: "assistant",
      content: "",
      reasoning_content: "Hm.",
      tool_calls: [{ type: "function", function: { name: "add", arguments: '{"a":1}' } }],
    });
  });
});
