import { describe, expect, it } from "vitest";
import { haikuPrompt, shortConversation, toolConversation, topics } from "../../../scripts/nano/corpus.ts";
import { Random } from "../../../scripts/nano/random.ts";

const draw = (seed: number, count: number) => {
  const random = new Random(seed);
  return Array.from({ length: count }, () => shortConversation(random));
};

describe("the corpus", () => {
  it("is the same for the same seed, and another for another", () => {
    expect(draw(5, 50)).toEqual(draw(5, 50));
    expect(draw(5, 50)).not.toEqual(draw(6, 50));
  });

  it("asks for every topic, mostly for haikus", () => {
    const questions = draw(1, 6000).map(({ messages }) => messages[0]?.content ?? "");
    for (const topic of topics) expect(questions).toContain(haikuPrompt(topic));
    const haikus = questions.filter((question) => question.startsWith("Write a haiku")).length;
    expect(haikus / questions.length).toBeGreaterThan(0.85);
    expect(haikus / questions.length).toBeLessThan(0.93);
  });

  it("thinks only when asked to", () => {
    for (const { messages, isThinking } of draw(2, 500)) {
      expect(messages[1]?.reasoning_content !== undefined).toBe(isThinking === true);
    }
  });

  it("sometimes offers tools that are not needed", () => {
    const random = new Random(3);
    const conversations = Array.from({ length: 200 }, () => toolConversation(random));
    expect(conversations.every(({ tools }) => (tools?.length ?? 0) > 0)).toBe(true);
    const unused = conversations.filter(({ messages }) => !messages[1]?.tool_calls).length;
    expect(unused).toBeGreaterThan(10);
    expect(unused).toBeLessThan(100);
  });
});
