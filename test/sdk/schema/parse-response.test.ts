import { describe, expect, it } from "vitest";
import {
  parseResponse,
  responseFamilyOf,
  ResponseParser,
  type ResponseFamily,
} from "../../../sdk/schema/parse-response.ts";
import type { ParsedResponse } from "../../../sdk/schema/rollout.ts";

interface Case {
  name: string;
  text: string;
  family?: ResponseFamily;
  content?: string;
  reasoning?: string;
  toolCalls?: ParsedResponse["toolCalls"];
}

const cases: Case[] = [
  { name: "plain text", text: "An old pond.\n", content: "An old pond.\n" },
  { name: "nothing", text: "" },
  {
    name: "reasoning",
    text: "<think>\nTwo and two.\n</think>\n\nFour.",
    content: "Four.",
    reasoning: "Two and two.",
  },
  { name: "empty reasoning", text: "<think>\n\n</think>\n\nFour.", content: "Four." },
  {
    name: "reasoning that was opened by the prompt",
    text: "Hm.</think>Four.",
    content: "Four.",
    reasoning: "Hm.",
  },
  { name: "reasoning cut off", text: "<think>I wonder", reasoning: "I wonder" },
  {
    name: "a tool call",
    text: '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>',
    toolCalls: [{ name: "add", arguments: { a: 1 } }],
  },
  {
    name: "text, reasoning and two calls",
    text: '<think>Use it</think>Sure.\n<tool_call>{"name": "f"}</tool_call>\n<tool_call>{"name": "g", "arguments": "x"}</tool_call>',
    content: "Sure.",
    reasoning: "Use it",
    toolCalls: [
      { name: "f", arguments: {} },
      { name: "g", arguments: "x" },
    ],
  },
  {
    name: "a call that is not JSON",
    text: "<tool_call>{name: add}</tool_call>",
    content: "<tool_call>{name: add}</tool_call>",
  },
  {
    name: "a call without a name",
    text: "<tool_call>[1]</tool_call>",
    content: "<tool_call>[1]</tool_call>",
  },
  { name: "a call cut off", text: 'Yes <tool_call>{"name": "f"', content: 'Yes <tool_call>{"name": "f"' },
  {
    name: "a malformed call between words",
    text: "Yes <tool_call>oh</tool_call> no",
    content: "Yes <tool_call>oh</tool_call> no",
  },
  { name: "what only looks like a tag", text: "1 <thin 2 < 3", content: "1 <thin 2 < 3" },
  { name: "white space at the end", text: "a \n ", content: "a \n " },
  {
    name: "a Llama call",
    family: "llama",
    text: '{"name": "add", "parameters": {"a": 1}}',
    toolCalls: [{ name: "add", arguments: { a: 1 } }],
  },
  {
    name: "a Llama call after its tag",
    family: "llama",
    text: ' <|python_tag|>{"name": "add", "parameters": {}}',
    toolCalls: [{ name: "add", arguments: {} }],
  },
  { name: "Llama JSON that is no call", family: "llama", text: '{"a": 1}', content: '{"a": 1}' },
  { name: "Llama text", family: "llama", text: 'Say {"name": "f"}', content: 'Say {"name": "f"}' },
  { name: "plain family", family: "plain", text: "<think>x</think>", content: "<think>x</think>" },
];

describe("parseResponse", () => {
  it.each(cases)("$name", ({ text, family, content = "", reasoning = "", toolCalls = [] }) => {
    expect(parseResponse(text, family)).toEqual({ content, reasoning, toolCalls });
  });
});

describe("ResponseParser", () => {
  it.each(cases)("gives the same letter by letter: $name", ({ text, family, content = "", ...expected }) => {
    const { reasoning = "", toolCalls = [] } = expected;
    const startsInReasoning = text.includes("</think>") && !text.includes("<think>");
    const parser = new ResponseParser({ family, startsInReasoning });
    const parts = [...[...text].flatMap((letter) => parser.push(letter)), ...parser.end()];
    const joined = (type: "content" | "reasoning") =>
      parts.map((part) => (part.type === type ? part.text : "")).join("");
    expect(joined("content")).toBe(content);
    expect(joined("reasoning")).toBe(reasoning);
    expect(parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : []))).toEqual(toolCalls);
  });

  it("hands text on at once where it cannot be a tag", () => {
    const parser = new ResponseParser();
    expect(parser.push("Old pond <")).toEqual([{ type: "content", text: "Old pond" }]);
    expect(parser.push("b>")).toEqual([{ type: "content", text: " <b>" }]);
  });

  it("leaves tool calls alone when asked to", () => {
    const parser = new ResponseParser({ tools: false });
    const text = '<think>a</think><tool_call>{"name": "f"}</tool_call>';
    expect([...parser.push(text), ...parser.end()]).toEqual([
      { type: "reasoning", text: "a" },
      { type: "content", text: '<tool_call>{"name": "f"}</tool_call>' },
    ]);
  });
});

describe("responseFamilyOf", () => {
  it.each([
    ["{{ '<tool_call>' }}", "hermes"],
    ["{{ '<think>' }}", "hermes"],
    ['{{ \'{"name": function name, "parameters": dictionary}\' }}', "llama"],
    ["{{ messages[0].content }}", "plain"],
  ] as const)("%s is %s", (template, family) => {
    expect(responseFamilyOf(template)).toBe(family);
  });
});
