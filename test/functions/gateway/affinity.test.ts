import { describe, expect, it } from "vitest";
import { affinityOf } from "../../../functions/gateway/affinity.ts";

const system = { role: "system", content: "You are terse." };
const user = (content: unknown) => ({ role: "user", content });
const assistant = { role: "assistant", content: "Hello." };

describe("what tells conversations apart", () => {
  it("stays the same through all turns", () => {
    const first = affinityOf({ messages: [system, user("Hi")] });
    expect(affinityOf({ messages: [system, user("Hi"), assistant, user("And now?")] })).toBe(first);
    expect(affinityOf({ messages: [system, user([{ type: "text", text: "Hi" }])], seed: 4 })).toBe(
      affinityOf({ messages: [system, user([{ type: "text", text: "Hi" }]), assistant] }),
    );
  });

  it("differs with the first words of the user, and with what stands before them", () => {
    const all = [
      [system, user("Hi")],
      [system, user("Ho")],
      [user("Hi")],
      [{ ...system, content: "You are verbose." }, user("Hi")],
      [system],
    ].map((messages) => affinityOf({ messages }));
    expect(new Set(all).size).toBe(all.length);
  });

  it("is that of the prompt where there are no messages, in any form", () => {
    expect(affinityOf({ prompt: "a" })).not.toBe(affinityOf({ prompt: "b" }));
    expect(affinityOf({ prompt: [1, 2] })).not.toBe(affinityOf({ prompt: [1, 3] }));
    for (const odd of [{}, { prompt: null }, { messages: [] }, { messages: [null, 3] }])
      expect(affinityOf(odd)).toBeTypeOf("number");
  });
});
