import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import { say, serveScript, tinyText, type Harness } from "./harness.ts";

/** Says all a template can see of a message. */
const SOURCE =
  "{%- for m in messages -%}[{{ m.role }}|{{ m.content }}|{{ m.reasoning_content }}|" +
  "{%- if 'tool_calls' in m -%}{%- for c in m.tool_calls -%}{{ c.function.name }}{{ c.function.arguments.a }};{%- endfor -%}{%- endif -%}]" +
  "{%- endfor -%}";

const user = { role: "user", content: "Hi" };
const call = (id: string, a = 1): object => ({
  id,
  type: "function",
  function: { name: "f", arguments: `{"a": ${a}}` },
});
const calls = (...ids: string[]): object => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string): object => ({ role: "tool", tool_call_id: id, content: "7" });

function harness(source = SOURCE): Harness {
  return serveScript(say("x"), { text: { ...tinyText(), chatTemplate: new ChatTemplate(source) } });
}

async function promptOf(messages: object[], source?: string): Promise<string> {
  const served = harness(source);
  const response = await served.post("/v1/chat/completions", { model: "haiku", messages });
  expect(response.status).toBe(200);
  return served.text.tokenizer.decode(served.engine.requests[0]?.promptIds ?? []);
}

describe("a conversation", () => {
  it("takes back what was answered: calls, reasoning, and keys nobody knows", async () => {
    const answer = { ...calls("c1"), reasoning_content: "Hm", refusal: null, annotations: [], audio: null };
    expect(await promptOf([user, answer, result("c1")])).toBe("[user|Hi||][assistant||Hm|f1;][tool|7||]");
    const other = { role: "assistant", content: "Yes", reasoning: "So", tool_calls: null };
    expect(await promptOf([user, other, user])).toBe("[user|Hi||][assistant|Yes|So|][user|Hi||]");
  });

  it("says developer as system, and joins parts of text in every role", async () => {
    const parts = ["a", "b"].map((text) => ({ type: "text", text }));
    const messages = [
      { role: "developer", content: parts },
      user,
      { role: "assistant", content: parts, tool_calls: [call("c1")] },
      { role: "tool", tool_call_id: "c1", content: parts },
    ];
    expect(await promptOf(messages)).toBe("[system|ab||][user|Hi||][assistant|ab||f1;][tool|ab||]");
  });

  it("has no content beside calls where the template asks for that, and empty content elsewhere", async () => {
    const messages = [user, calls("c1"), result("c1")];
    const asking =
      "{%- for m in messages -%}{{ 'none' if m['content'] is none else m.content }},{%- endfor -%}";
    expect(await promptOf(messages, asking)).toBe("Hi,none,7,");
    const searching =
      "{%- for m in messages -%}{%- if m.reasoning_content is not none -%}{{ m.content.split('x')[0] }},{%- endif -%}{%- endfor -%}";
    expect(await promptOf(messages, searching)).toBe("Hi,,7,");
  });

  it("takes several results in any order, and answers without ids", async () => {
    expect(await promptOf([user, calls("a", "b"), result("b"), result("a"), user])).toContain(
      "[tool|7||][tool|7||]",
    );
    const { id: _, ...nameless } = call("a") as { id: string };
    const bare = { role: "assistant", tool_calls: [nameless] };
    expect(await promptOf([bare, { role: "tool", content: "7" }])).toContain("[tool|7||]");
  });

  it.each<[string, object[], string | null, string]>([
    ["E17 a result without a call", [user, result("c1")], null, "messages[1].role"],
    [
      "E17 a result after another message",
      [calls("c1"), result("c1"), user, result("c1")],
      null,
      "messages[3].role",
    ],
    ["E17 a result of another call", [calls("c1"), result("c2")], null, "messages[1].role"],
    ["E17 a second result of a call", [calls("c1"), result("c1"), result("c1")], null, "messages[2].role"],
    ["E17 a call without a result", [user, calls("c1")], null, "messages[1].role"],
    ["E17 two calls with one result", [user, calls("a", "b"), result("a"), user], null, "messages[1].role"],
    [
      "E9 calls that are no list",
      [{ role: "assistant", tool_calls: {} }],
      "invalid_type",
      "messages[0].tool_calls",
    ],
    [
      "E9 a call without a function",
      [{ role: "assistant", tool_calls: [null] }],
      "invalid_type",
      "messages[0].tool_calls[0].function",
    ],
    [
      "E9 arguments that are no text",
      [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: {} } }] }],
      "invalid_type",
      "messages[0].tool_calls[0].function.arguments",
    ],
    ["E8 no content", [{ role: "user" }], "missing_required_parameter", "messages[0].content"],
    ["E9 null for content", [{ role: "user", content: null }], "invalid_type", "messages[0].content"],
  ])("is refused with %s", async (_, messages, code, param) => {
    const response = await harness().post("/v1/chat/completions", { model: "haiku", messages });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", code, param } });
  });
});
