import { describe, expect, it } from "vitest";
import { readAnswer } from "../../../engine/evaluation/answer.ts";

function completion(message: object) {
  return { choices: [{ message, finish_reason: "tool_calls" }], usage: { completion_tokens: 4 } };
}

describe("answers of an endpoint", () => {
  it("are the same whether the endpoint takes them apart or not", () => {
    const whole = readAnswer(
      completion({
        content: '<think>Hm.</think>\n<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>',
      }),
    );
    const apart = readAnswer(
      completion({
        content: null,
        reasoning_content: "Hm.",
        tool_calls: [{ type: "function", function: { name: "add", arguments: '{"a":1}' } }],
      }),
    );
    expect(whole.response).toEqual(apart.response);
    expect(apart).toMatchObject({ tokens: 4, finishReason: "tool_calls", text: "" });
    expect(apart.response.toolCalls).toEqual([{ name: "add", arguments: { a: 1 } }]);
  });

  it("keep arguments that are not JSON as written", () => {
    const call = { id: "c1", function: { name: "add", arguments: "{a:" } };
    expect(readAnswer(completion({ content: "", tool_calls: [call] })).response.toolCalls).toEqual([
      { id: "c1", name: "add", arguments: "{a:" },
    ]);
  });

  it.each([[null], [{}], [{ choices: [] }], [{ choices: [{ message: { content: 3 } }] }]])(
    "are refused when they are none: %j",
    (body) => {
      expect(() => readAnswer(body)).toThrow(expect.objectContaining({ code: "engine_failed" }));
    },
  );
});
