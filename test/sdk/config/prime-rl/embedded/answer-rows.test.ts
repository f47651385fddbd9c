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

  it("end with an answer to something", () => {
    for (const row of [{}, { messages: [user] }, { completion: "hello" }, { messages: [assistant] }])
      expect(() => answerRow(row)).toThrow("does not end with an answer");
  });
});
