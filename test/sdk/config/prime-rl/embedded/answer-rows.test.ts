import { describe, expect, it } from "vitest";
import { answerRow } from "../../../../../sdk/config/prime-rl/embedded/answer-rows.ts";

describe("rows of an sft configuration", () => {
  const user = { role: "user", content: "hi" };
  const assistant = { role: "assistant", content: "hello" };

  it("are messages, or prompt and completion as texts or lists", () => {
    const formatted = { prompt: [user], completion: "hello" };
    expect(answerRow({ messages: [user, assistant] })).toEqual(formatted);
    expect(answerRow({ prompt: "hi", completion: "hello" })).toEqual(formatted);
    expect(answerRow({ prompt: [user], completion: [assistant] })).toEqual(formatted);
  });

  it("are whole conversations where they end otherwise: what is learned of them is told by role", () => {
    const calls = {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { name: "add", arguments: "{}" } }],
    };
    for (const messages of [[user], [user, calls], [assistant]])
      expect(answerRow({ messages })).toEqual({ prompt: messages });
    for (const row of [{}, { messages: [] }, { messages: "hi" }])
      expect(() => answerRow(row)).toThrow("the row holds no conversation");
  });
});
