import { describe, expect, it } from "vitest";
import {
  playConversation,
  type PlayedCall,
  type PlaySettings,
  rewardRow,
} from "../../../sdk/config/project-folder/play/conversation.ts";
import type { Entry, Turn } from "../../../sdk/config/project-folder/play/player.ts";
import type { ErrorCode } from "../../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { JobCallResult, ToolDefinition } from "../../../sdk/schema/job.ts";
import type { ParsedResponse } from "../../../sdk/schema/rollout.ts";

const SETTINGS: PlaySettings = {
  maxTurns: 4,
  terminationPolicy: "last_tool",
  contextTokens: 1_000,
  includeThinking: false,
};

type Said = Partial<ParsedResponse> & { finishReason?: "length"; promptTokens?: number; throws?: ErrorCode };

const toolNamed = (name: string): ToolDefinition => ({
  type: "function",
  function: { name, description: "", parameters: { type: "object" } },
});
const call = (name: string, input: unknown = {}): Said => ({ toolCalls: [{ name, arguments: input }] });

interface Played {
  settings?: Partial<PlaySettings>;
  tools?: string[];
  row?: Partial<Entry["row"]>;
  answer?: (call: PlayedCall) => JobCallResult;
}

/** Plays a row with a model that says one thing after another, and remembers what it was shown. */
async function play(said: Said[], { settings, tools = [], row, answer }: Played = {}) {
  const seen: Turn[] = [];
  const called: PlayedCall[] = [];
  const entry: Entry = {
    index: 0,
    row: {
      prompt: [{ role: "user", content: "Go." }],
      row: { metadata: { answer: 1 }, variables: { a: 2 } },
      ...row,
    },
  };
  const conversation = await playConversation(entry, {
    player: {
      async answer(turn) {
        seen.push(turn);
        const { finishReason = "stop", promptTokens = 10, throws, ...response } = said[turn.number - 1] ?? {};
        if (throws !== undefined) throw new SpotterError(throws, "no");
        return {
          response: { content: "", reasoning: "", toolCalls: [], ...response },
          finishReason,
          promptTokens,
          completionTokens: 5,
        };
      },
    },
    tools: tools.map(toolNamed),
    async callTools(calls) {
      called.push(...calls);
      return calls.map((each) => answer?.(each) ?? { value: 1 });
    },
    settings: { ...SETTINGS, ...settings },
    seedOf: (turn) => turn,
    signal: new AbortController().signal,
  });
  return { conversation, seen, called, entry };
}

const roles = ({ messages }: { messages: { role: string }[] }) => messages.map(({ role }) => role);

describe("turns", () => {
  it("calls tools, tells their answers and goes on until an answer calls none", async () => {
    const { conversation, called, seen } = await play([call("add", { a: 1 }), { content: "Two." }], {
      tools: ["add"],
      answer: () => ({ value: { sum: 2 } }),
    });
    expect(called).toEqual([{ tool: "add", input: { a: 1 } }]);
    expect(conversation).toMatchObject({
      turns: 2,
      completionTokens: 10,
      promptTokens: 10,
      truncated: false,
    });
    expect(conversation.response.content).toBe("Two.");
    expect(conversation.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "call_1_1", type: "function", function: { name: "add", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "call_1_1", name: "add", content: '{"sum":2}' },
      { role: "assistant", content: "Two." },
    ]);
    expect(seen.map(({ seed }) => seed)).toEqual([1, 2]);
  });

  it("ends after max_turns; the tools of the last turn still run", async () => {
    const { conversation, called } = await play([call("add"), call("add"), call("add")], {
      tools: ["add"],
      settings: { maxTurns: 2 },
    });
    expect([conversation.turns, called.length]).toEqual([2, 2]);
    expect(roles(conversation)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  });

  it("goes on without a tool up to max_turns with termination_policy max_turns", async () => {
    const { conversation } = await play([{ content: "a" }, { content: "b" }, { content: "c" }], {
      settings: { terminationPolicy: "max_turns", maxTurns: 3 },
    });
    expect(roles(conversation)).toEqual(["user", "assistant", "assistant", "assistant"]);
  });

  it("ends with an answer that ran out of room, and with a conversation that has none left", async () => {
    const cut = await play([{ ...call("add"), finishReason: "length" }, { content: "b" }], {
      tools: ["add"],
    });
    expect([cut.conversation.turns, cut.called]).toEqual([1, []]);
    const full = await play([{ ...call("add"), promptTokens: 996 }], { tools: ["add"] });
    expect([full.conversation.turns, full.conversation.truncated]).toEqual([1, true]);
    // What a tool said was more than was thought: only the server knows.
    const refused = await play([call("add"), { throws: "context_length_exceeded" }], { tools: ["add"] });
    expect([refused.conversation.turns, refused.conversation.truncated]).toEqual([1, true]);
    expect(roles(refused.conversation)).toEqual(["user", "assistant", "tool"]);
    const failing = play([{ throws: "context_length_exceeded" }]);
    await expect(failing).rejects.toMatchObject({ code: "context_length_exceeded" });
    // An image is no text of so many letters.
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(66_000)}` } };
    const row = { prompt: [{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }] };
    const seeing = await play([{ content: "A cat." }], { row });
    expect([seeing.conversation.turns, seeing.seen[0]?.maxTokens]).toEqual([1, 993]);
    await expect(play([], { settings: { contextTokens: 5 } })).rejects.toMatchObject({
      code: "context_length_exceeded",
    });
  });
});

describe("tools", () => {
  it("gives a row the tools that it names, and all where it names none", async () => {
    const tools = ["add", "find"];
    const some = await play([call("find"), {}], { tools, row: { tools: ["add"] } });
    expect(some.seen[0]?.tools.map(({ function: { name } }) => name)).toEqual(["add"]);
    expect(some.called).toEqual([]);
    expect(some.conversation.messages[2]).toMatchObject({
      content: '{"error":"there is no tool \\"find\\""}',
    });
    const all = await play([call("find"), {}], { tools });
    expect(all.called).toHaveLength(1);
  });

  it("takes calls of a model that was told of no tools for text", async () => {
    const { conversation, called } = await play([call("add"), {}]);
    expect([conversation.turns, called]).toEqual([1, []]);
  });

  it("tells the model of a tool that throws, and goes on", async () => {
    const { conversation } = await play([call("add"), { content: "Sorry." }], {
      tools: ["add"],
      answer: () => ({ error: { code: "tool_failed", message: "no luck" } }),
    });
    expect(conversation.messages[2]).toMatchObject({ content: '{"error":"no luck"}' });
    expect(conversation.toolErrors).toEqual(["add: no luck"]);
    expect(conversation.response.content).toBe("Sorry.");
  });

  it("cuts what is longer than max_tool_response, which is no truncation", async () => {
    const { conversation } = await play([call("add"), {}], {
      tools: ["add"],
      settings: { maxToolTokens: 10 },
      answer: () => ({ value: "x".repeat(500) }),
    });
    expect(conversation.messages[2]?.content).toMatch(/^x+ …\[cut\]$/);
    expect(String(conversation.messages[2]?.content).length).toBeLessThanOrEqual(40);
    expect(conversation.truncated).toBe(false);
  });

  it("cuts what the window has no room for, answers every call, and says so", async () => {
    const twice = { toolCalls: [call("add").toolCalls, call("add").toolCalls].flatMap((each) => each ?? []) };
    const { conversation, seen } = await play([twice, {}], {
      tools: ["add"],
      answer: () => ({ value: "😀".repeat(5_000) }),
    });
    const answers = conversation.messages.filter(({ role }) => role === "tool");
    expect(answers).toHaveLength(2);
    for (const { content } of answers) expect(content).toMatch(/^(?:😀)+ …\[cut\]$/u);
    expect(conversation.truncated).toBe(true);
    expect(seen).toHaveLength(2);
  });
});

describe("what is seen", () => {
  const thinking: Said[] = [
    { ...call("add"), reasoning: "hm" },
    { content: "Two.", reasoning: "so" },
  ];

  it("drops earlier thinking with include_thinking false; that of the last answer stays for rewards", async () => {
    const { conversation, seen, entry } = await play(thinking, { tools: ["add"] });
    expect(JSON.stringify(seen[1]?.messages)).not.toContain("hm");
    expect(JSON.stringify(conversation.messages)).not.toContain("hm");
    expect(conversation.messages.at(-1)).toMatchObject({ reasoning_content: "so" });
    expect(rewardRow(entry, conversation).response.reasoning).toBe("so");
  });

  it("keeps all of it with include_thinking true", async () => {
    const { conversation, seen } = await play(thinking, {
      tools: ["add"],
      settings: { includeThinking: true },
    });
    expect(seen[1]?.messages[1]).toMatchObject({ reasoning_content: "hm" });
    expect(conversation.messages[1]).toMatchObject({ reasoning_content: "hm" });
  });

  it("hands rewards the row's metadata, variables and rewards, which the model never sees", async () => {
    const { conversation, entry, seen } = await play([{ content: "x" }], { row: { rewards: ["accuracy"] } });
    expect(rewardRow(entry, conversation)).toEqual({
      row: entry.row.row,
      metadata: { answer: 1 },
      variables: { a: 2 },
      response: { content: "x", reasoning: "", toolCalls: [] },
      completion: { tokens: 5, finishReason: "stop" },
      messages: conversation.messages,
      rewards: ["accuracy"],
    });
    expect(seen[0]?.messages).toEqual([{ role: "user", content: "Go." }]);
  });
});
