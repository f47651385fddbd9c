import { describe, expect, it } from "vitest";
import * as rewards from "../../../examples/multi-turn/rewards.ts";

const poem = "the old pond\na frog jumps\nthe sound of water";

function judge(name: keyof typeof rewards, content: string, row = { topic: "pond" }) {
  const response = { content, reasoning: "", toolCalls: [] };
  const completion = { tokens: 9, finishReason: "stop" };
  return rewards[name]({ row, metadata: {}, variables: {}, secrets: {}, response, completion }, []);
}

describe("the rewards of a conversation", () => {
  it("look for the word of the first question in the last answer", async () => {
    expect(await judge("topic", poem)).toBe(1);
    expect(await judge("topic", poem, { topic: "rain" })).toBe(0);
  });

  it("want three lines", async () => {
    expect(await judge("form", poem)).toBe(0);
    expect(await judge("form", "pond")).toBe(-1);
  });
});
