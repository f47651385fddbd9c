import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import type { TextModel } from "../../../engine/onnx/text/text-model.ts";
import { sftSequence } from "../../../engine/training/sft-step.ts";
import { createPromptCodec } from "../../../engine/training/text.ts";
import { characterModel } from "./character-model.ts";
import { promptRow } from "./fake-engine.ts";

const ids = characterModel.tokenizer.encode;

function codec(template?: string) {
  const model = {
    ...characterModel,
    ...(template === undefined ? {} : { chatTemplate: new ChatTemplate(template) }),
  };
  return createPromptCodec(model as unknown as TextModel, { mood: "calm" });
}

describe("sft sequences", () => {
  it("learn the completion and the end of the turn, token by token", () => {
    const sequence = sftSequence(codec(), promptRow("hi", "yo"), "dataset row 1");
    expect(sequence.ids).toEqual(ids("hi|^yo$"));
    expect(sequence.mask).toEqual([0, 0, 0, 0, 1, 1, 1]);
  });

  it("fall back to the bare completion where the template rewrites answers", () => {
    const rewriting =
      "{%- for m in messages -%}{{ loop.length }}{{ m.content }}|{%- endfor -%}{%- if add_generation_prompt -%}^{%- endif -%}";
    const sequence = sftSequence(codec(rewriting), promptRow("hi", "yo"), "dataset row 1");
    expect(sequence.ids).toEqual(ids("1hi|^yo$"));
    expect(sequence.mask).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
  });

  it("continue the bare text of rows without a chat template", () => {
    const row = { ...promptRow("hi", "yo"), chatTemplate: false };
    const sequence = sftSequence(codec(), row, "dataset row 1");
    expect(sequence.ids).toEqual(ids("hiyo$"));
    expect(sequence.mask).toEqual([0, 0, 1, 1, 1]);
  });

  it("name the row that has no completion or is too long", () => {
    expect(() => sftSequence(codec(), promptRow("hi"), "dataset row 7")).toThrow(
      expect.objectContaining({ code: "dataset_invalid", where: "dataset row 7" }),
    );
    expect(() => sftSequence(codec(), promptRow("hi", "y".repeat(80)), "dataset row 7")).toThrow(
      expect.objectContaining({ code: "context_length_exceeded", where: "dataset row 7" }),
    );
  });

  it("hand variables to the template", () => {
    expect(codec("{{ mood }}").promptIds(promptRow(""))).toEqual(ids("calm"));
  });

  it("refuse what is not text, naming the part", () => {
    const image = { prompt: [{ role: "user", content: [{ type: "image_url" }] }], row: {} };
    expect(() => codec().promptIds(image)).toThrow(
      expect.objectContaining({
        code: "dataset_invalid",
        message: expect.stringContaining("image_url") as string,
      }),
    );
    const parts = { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }], row: {} };
    expect(codec().promptIds(parts)).toEqual(ids("hi|^"));
  });

  it("need a chat template", () => {
    const model = { ...characterModel, chatTemplate: undefined } as unknown as TextModel;
    expect(() => createPromptCodec(model, {}).promptIds(promptRow("hi"))).toThrow(
      expect.objectContaining({ code: "model_unsupported" }),
    );
    expect(createPromptCodec(model, {}).textIds("a")).toEqual(ids("a"));
  });
});

describe("sampled answers", () => {
  it("begin inside the reasoning where the prompt opened it", () => {
    const model = {
      ...characterModel,
      responseFamily: "hermes",
      chatTemplate: new ChatTemplate("{{ messages[0].content }}{{ '<think>\\n' if think }}"),
    } as unknown as TextModel;
    const row = promptRow("hi");
    expect(createPromptCodec(model, { think: true }).parse(row, "Hm")).toMatchObject({
      reasoning: "Hm",
      content: "",
    });
    expect(createPromptCodec(model, {}).parse(row, "Hm")).toMatchObject({ reasoning: "", content: "Hm" });
  });
});
