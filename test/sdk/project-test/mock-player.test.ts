import { describe, expect, it } from "vitest";
import { MOCK_TEXT, mockPlayer, ownAnswer } from "../../../sdk/config/project-folder/play/mock-player.ts";
import type { Turn } from "../../../sdk/config/project-folder/play/player.ts";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";

const rowOf = (metadata?: unknown, more: Partial<DatasetRow> = {}): DatasetRow => ({
  prompt: [{ role: "user", content: "Go." }],
  row: metadata === undefined ? {} : { metadata },
  ...more,
});

const turnOf = (row: DatasetRow, more: Partial<Turn> = {}): Turn => ({
  entry: { index: 0, row },
  messages: row.prompt as Turn["messages"],
  tools: [],
  number: 1,
  maxTurns: 1,
  maxTokens: 100,
  seed: 0,
  signal: new AbortController().signal,
  ...more,
});

describe("mock", () => {
  it.each([
    ["the expected answer", rowOf({ expected_answer: "42" }), "42"],
    ["another key of that meaning", rowOf({ topic: "rain", ground_truth: "x" }), "x"],
    ["a number", rowOf({ expected_answer: 42 }), "42"],
    ["a list", rowOf({ answer: ["a", "b"] }), '["a","b"]'],
    ["what sft learns", rowOf({ expected_answer: "42" }, { completion: "Forty-two." }), "Forty-two."],
    ["a fixed text where there is none", rowOf({ expected_answer: null, topic: "rain" }), MOCK_TEXT],
    ["a fixed text without metadata", rowOf(), MOCK_TEXT],
  ])("answers with %s", async (_, row, text) => {
    const { response } = await mockPlayer().answer(turnOf(row));
    expect(response).toEqual({ content: text, reasoning: "", toolCalls: [] });
    expect(ownAnswer({ index: 0, row })).toBe(text === MOCK_TEXT ? undefined : text);
  });

  it("first calls every tool once where there are turns left", async () => {
    const parameters = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    const tools: Turn["tools"] = ["add", "find"].map((name) => ({
      type: "function",
      function: { name, description: "", parameters },
    }));
    const row = rowOf({ answer: "2" });
    const answer = async (more: Partial<Turn>) =>
      (await mockPlayer().answer(turnOf(row, { tools, ...more }))).response;
    expect(await answer({ maxTurns: 2 })).toMatchObject({
      content: "",
      toolCalls: [
        { name: "add", arguments: { a: 1 } },
        { name: "find", arguments: { a: 1 } },
      ],
    });
    expect(await answer({ maxTurns: 2, number: 2 })).toMatchObject({ content: "2", toolCalls: [] });
    expect(await answer({ maxTurns: 1 })).toMatchObject({ content: "2", toolCalls: [] });
  });
});
