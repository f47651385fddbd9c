import { describe, expect, it } from "vitest";
import * as rewards from "../../../examples/haiku/rewards.ts";

const perfect = "an old silent pond\na frog jumps into the pond\nsplash silence again";

function judge(
  name: keyof typeof rewards,
  content: string,
  row: Record<string, unknown> = { keywords: "pond" },
) {
  const args = {
    row,
    metadata: {},
    variables: {},
    secrets: {},
    response: { content, reasoning: "frog", toolCalls: [] },
    completion: { tokens: 20, finishReason: "stop" },
  };
  return rewards[name](args, [{ role: "assistant", content }]);
}

describe("the haiku rewards", () => {
  it("are two, by these names", () => {
    expect(Object.keys(rewards).sort()).toEqual(["haiku", "topic"]);
  });

  it("score the answer's syllables", async () => {
    expect(await judge("haiku", perfect)).toBe(0);
    expect(await judge("haiku", perfect.replace("old ", ""))).toBe(-1);
    expect(await judge("haiku", "")).toBe(-10);
  });

  it("add a bonus for the topic in the answer, not in its thoughts", async () => {
    expect(await judge("topic", perfect)).toBe(1);
    expect(await judge("topic", perfect, { keywords: "frog" })).toBe(1);
    expect(await judge("topic", "pond", { keywords: "frog" })).toBe(0);
    expect(await judge("topic", perfect, {})).toBe(0);
  });
});
