import { describe, expect, it } from "vitest";
import { answer, chat, hello, hermes, withTools } from "./tool-harness.ts";

const CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';

describe("response_format", () => {
  it("leaves tags in JSON alone, and lets tools be called instead", async () => {
    const body = { ...withTools, response_format: { type: "json_object" } };
    const json = `{"a": "<think>${CALL.replaceAll("\n", "").replaceAll('"', "'")}"}`;
    expect((await answer(hermes(json), body)).message.content).toBe(json);
    expect((await answer(hermes(CALL), body)).message.tool_calls).toHaveLength(1);
    const thought = await answer(hermes(`<think>Hm</think>\n${json}`), body);
    expect(thought.message).toMatchObject({ content: json, reasoning_content: "Hm" });
  });

  it("of text is no constraint", async () => {
    const harness = hermes("x");
    await answer(harness, { ...hello, response_format: { type: "text" } });
    expect(harness.engine.requests[0]?.grammar).toBeUndefined();
  });

  it("E13 takes vLLM's words for it, and refuses those it cannot keep to", async () => {
    const harness = hermes('"a"');
    await answer(harness, { ...hello, guided_json: '{"type": "string"}' });
    await answer(harness, { ...hello, guided_choice: ["yes", "no"], guided_json: null });
    const roots = harness.engine.requests.map(({ grammar }) => grammar?.root);
    expect(roots).toEqual([
      { all: [{ rule: "string" }] },
      { all: [{ oneOf: [{ text: "yes" }, { text: "no" }] }] },
    ]);
    const wrong: [string, unknown][] = [
      ["guided_regex", "a+"],
      ["guided_grammar", "root ::= "],
      ["guided_json", "{"],
      ["guided_choice", []],
      ["guided_choice", ["x".repeat(70_000)]],
      ["guided_choice", Array.from({ length: 10_001 }, (_, at) => `${at}`)],
    ];
    for (const [param, value] of wrong) {
      const response = await chat(harness, { ...hello, [param]: value });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param } });
    }
  });

  it("E8 needs its schema", async () => {
    const response = await chat(hermes("x"), { ...hello, response_format: { type: "json_schema" } });
    expect(await response.json()).toMatchObject({
      error: { code: "missing_required_parameter", param: "response_format.json_schema" },
    });
  });
});
