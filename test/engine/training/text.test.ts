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
    const sequence = sftSequence(codec(), promptRow("hi", "yo"), 1);
    expect(sequence.ids).toEqual(ids("hi|^yo$"));
    expect(sequence.mask).toEqual([0, 0, 0, 0, 1, 1, 1]);
  });

  it("fall back to the bare completion where the template rewrites answers", () => {
    const rewriting =
      "{%- for m in messages -%}{{ loop.length }}{{ m.content }}|{%- endfor -%}{%- if add_generation_prompt -%}^{%- endif -%}";
    const sequence = sftSequence(codec(rewriting), promptRow("hi", "yo"), 1);
    expect(sequence.ids).toEqual(ids("1hi|^yo$"));
    expect(sequence.mask).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
  });

  it("name the row that has no completion or is too long", () => {
    expect(() => sftSequence(codec(), promptRow("hi"), 7)).toThrow(
      expect.objectContaining({ code: "dataset_invalid", where: "dataset row 7" }),
    );
    expect(() => sftSequence(codec(), promptRow("hi", "y".repeat(80)), 7)).toThrow(
      expect.objectContaining({ code: "context_length_exceeded", where: "dataset row 7" }),
    );
  });

  it("hand variables to the template", () => {
    expect(codec("{{ mood }}").promptIds(promptRow(""))).toEqual(ids("calm"));
  });

  it("need a chat template", () => {
    const model = { ...characterModel, chatTemplate: undefined } as unknown as TextModel;
    expect(() => createPromptCodec(model, {})).toThrow(
      expect.objectContaining({ code: "model_unsupported" }),
    );
  });
});
