import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { loadTextModel, type TextModel } from "../../../engine/onnx/text/text-model.ts";
import { SafetensorsFile } from "../../../engine/onnx/weights/safetensors.ts";
import type { ChatMessage } from "../../../sdk/schema/rollout.ts";
import { topics } from "../../../scripts/nano/corpus.ts";
import { shape } from "../../../scripts/nano/model-folder.ts";

const dir = join(import.meta.dirname, "../../../engine/models/nano");
let text: TextModel;

beforeAll(async () => {
  text = await loadTextModel(dir);
});

describe("the tokenizer of spotter/nano", () => {
  it("gives back any text exactly", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc
        .array(
          fc.constantFrom(...topics, " ", "  ", "\n", "\r\n", "'s", "12", "\u0000", "e\u0301", "日本", "🌧️"),
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(anyText, (value) => {
        expect(text.tokenizer.decode(text.tokenizer.encode(value), { special: true })).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  it("has every topic as one token behind a space", () => {
    expect(topics.filter((topic) => text.tokenizer.encode(` ${topic}`).length !== 1)).toEqual([]);
  });

  it("keeps the prompt of a haiku at nine tokens", () => {
    const prompt = text.chatTemplate?.render([{ role: "user", content: "Write a haiku about rain." }]) ?? "";
    expect(text.tokenizer.encode(prompt)).toHaveLength(9);
  });

  it("makes control tokens of nothing but their own names", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        fc.pre(!/<\|?\/?[a-z_]+\|?>/.test(value));
        expect(Math.min(...text.tokenizer.encode(`${value}.`))).toBeGreaterThanOrEqual(10);
      }),
      { numRuns: 300 },
    );
    // As in every Hugging Face tokenizer, text that spells a control token becomes one: docs/nano.md says so.
    expect(text.tokenizer.encode("a<|end|>")).toContain(1);
  });
});

describe("the chat template of spotter/nano", () => {
  const render = (
    messages: ChatMessage[],
    options: { tools?: unknown[]; variables?: Record<string, unknown> } = {},
  ) => text.chatTemplate?.render(messages, options);
  const user: ChatMessage = { role: "user", content: "Hi" };
  const add = { type: "function", function: { name: "add", parameters: { type: "object" } } };

  it.each<[string, ChatMessage[], Parameters<typeof render>[1], string]>([
    ["a question", [user], {}, "<|user|>Hi<|end|><|assistant|>"],
    [
      "enable_thinking: false changes nothing",
      [user],
      { variables: { enable_thinking: false } },
      "<|user|>Hi<|end|><|assistant|>",
    ],
    [
      "enable_thinking: true asks for thought",
      [user],
      { variables: { enable_thinking: true } },
      "<|system|>/think<|end|><|user|>Hi<|end|><|assistant|>",
    ],
    [
      "no generation prompt",
      [user],
      { variables: {}, ...{ addGenerationPrompt: false } },
      "<|user|>Hi<|end|>",
    ],
    [
      "a system message and tools share one turn",
      [{ role: "system", content: "Be brief." }, user],
      { tools: [add] },
      '<|system|>Be brief.\nTools:\n{"name": "add", "parameters": {"type": "object"}}<|end|><|user|>Hi<|end|><|assistant|>',
    ],
    [
      "a developer message is a system message, and a later one keeps its place",
      [{ role: "developer", content: "A" }, user, { role: "system", content: "B" }],
      {},
      "<|system|>A<|end|><|user|>Hi<|end|><|system|>B<|end|><|assistant|>",
    ],
    [
      "content in parts",
      [
        {
          role: "user",
          content: [{ type: "text", text: "H" }, { type: "image_url" }, { type: "text", text: "i" }],
        },
      ],
      {},
      "<|user|>Hi<|end|><|assistant|>",
    ],
    [
      "a tool call and its result",
      [
        user,
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "1", type: "function", function: { name: "add", arguments: '{"a":1,"b":"x"}' } },
          ],
        },
        { role: "tool", content: "3", tool_call_id: "1" },
      ],
      {},
      '<|user|>Hi<|end|><|assistant|><tool_call>{"name": "add", "arguments": {"a": 1, "b": "x"}}</tool_call><|end|>' +
        "<|tool|>3<|end|><|assistant|>",
    ],
    [
      "thoughts before the last question are dropped, later ones kept",
      [
        user,
        { role: "assistant", content: "<think>old</think>A" },
        user,
        { role: "assistant", content: "B", reasoning_content: "new" },
      ],
      {},
      "<|user|>Hi<|end|><|assistant|>A<|end|><|user|>Hi<|end|><|assistant|><think>new</think>B<|end|><|assistant|>",
    ],
  ])("renders %s", (_, messages, options, expected) => {
    expect(render(messages, options)).toBe(expected);
  });

  it("refuses a role it does not know", () => {
    expect(() => render([{ role: "critic" as "user", content: "" }])).toThrow(/Unknown role in chat: critic/);
  });
});

describe("the weights of spotter/nano", () => {
  it("are about a million bfloat16 numbers in Hugging Face's names", async () => {
    const file = await SafetensorsFile.open(join(dir, "model.safetensors"));
    try {
      const tensors = [...file.tensors.values()];
      const count = tensors.reduce((sum, tensor) => sum + tensor.shape.reduce((a, b) => a * b, 1), 0);
      expect(count).toBeGreaterThan(0.8e6);
      expect(count).toBeLessThan(1.2e6);
      expect(new Set(tensors.map(({ type }) => type))).toEqual(new Set(["BF16"]));
      expect(file.tensors.get("model.layers.3.self_attn.k_proj.weight")?.shape).toEqual([64, 128]);
    } finally {
      await file.close();
    }
  });

  it("leave room for 1,024 positions", async () => {
    const config = JSON.parse(await readFile(join(dir, "config.json"), "utf8")) as Record<string, unknown>;
    expect(config).toMatchObject({ architectures: ["LlamaForCausalLM"], max_position_embeddings: 1024 });
    expect(config.vocab_size).toBe(shape.vocabularySize);
    expect((await stat(join(dir, "model.safetensors"))).size).toBeLessThan(2.5e6);
  });
});
