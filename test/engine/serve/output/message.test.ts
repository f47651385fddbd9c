import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatAssistantMessage, ChatFinishReason } from "../../../../sdk/schema/chat.ts";
import { ResponseStream, type StreamPart } from "../../../../sdk/schema/response-stream.ts";
import { Deltas } from "../../../../engine/serve/output/deltas.ts";
import { MessageBuilder } from "../../../../engine/serve/output/message.ts";

function partsOf(pieces: readonly string[]): StreamPart[] {
  const stream = new ResponseStream();
  return [...pieces.flatMap((piece) => stream.push(piece)), ...stream.end()];
}

const ids = (): (() => string) => {
  let count = 0;
  return () => String(++count);
};

function built(parts: readonly StreamPart[], finish: ChatFinishReason = "stop"): ChatAssistantMessage {
  const builder = new MessageBuilder(ids());
  for (const part of parts) builder.take(part, finish);
  return builder.message();
}

/** As stock clients put a stream together. */
function received(parts: readonly StreamPart[]): ChatAssistantMessage {
  const deltas = new Deltas(ids());
  const calls: NonNullable<ChatAssistantMessage["tool_calls"]> = [];
  let [content, reasoning] = ["", ""];
  for (const delta of parts.flatMap((part) => deltas.of(part))) {
    content += delta.content ?? "";
    reasoning += delta.reasoning_content ?? "";
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      if (id !== undefined)
        calls[index] = { id, type: "function", function: { name: called?.name ?? "", arguments: "" } };
      const call = calls[index];
      if (call !== undefined) call.function.arguments += called?.arguments ?? "";
    }
  }
  return {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

const snippets = fc.constantFrom(
  "<think>",
  "</think>",
  "<tool_call>",
  "</tool_call>",
  '{"name": "f", "arguments": {"a": 1}}',
  '{"name": "f", "arguments": {"a": ',
  '{"name": "g"}',
  "{",
  "}",
  '"',
  "\n",
  "Hé 🍁",
);
const texts = fc.array(snippets, { maxLength: 10 }).map((items) => items.join(""));

describe("a message", () => {
  it("S6 S7 is the same built whole and received in deltas, wherever the text is cut", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parts = partsOf([text]);
        fc.pre(parts.every((part) => part.type !== "call-end" || part.how === "complete"));
        const whole = built(parts);
        expect(received(parts)).toEqual(whole);
        for (let at = 0; at <= text.length; at++) {
          expect(received(partsOf([text.slice(0, at), text.slice(at)]))).toEqual(whole);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("keeps a call that ran out of tokens, and has one that broke in its content", () => {
    const cut = partsOf(['<tool_call>{"name": "f", "arguments": {"a": ']);
    expect(built(cut, "length")).toMatchObject({
      content: null,
      tool_calls: [{ function: { arguments: '{"a": ' } }],
    });
    expect(built(cut, "stop")).toEqual({
      role: "assistant",
      content: '<tool_call>{"name": "f", "arguments": {"a": ',
      refusal: null,
    });
  });

  it("says in a stream what came after the arguments of a call that broke", () => {
    const parts = partsOf(['<tool_call>{"name": "f", "arguments": {} oh}</tool_call>']);
    expect(received(parts)).toMatchObject({
      content: "oh}</tool_call>",
      tool_calls: [{ function: { name: "f", arguments: "{}" } }],
    });
  });
});
