import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import type { TextModel } from "../../../engine/onnx/text/text-model.ts";
import { sftSequences } from "../../../engine/training/sft-step.ts";
import { createPromptCodec } from "../../../engine/training/text.ts";
import type { LearnRole } from "../../../sdk/schema/sft-algorithm.ts";
import { characterModel, EOS } from "./character-model.ts";

const nano = readFileSync(
  new URL("../../../engine/models/nano/chat_template.jinja", import.meta.url),
  "utf8",
);
const END = "<|end|>";

/** A token a letter, `<|end|>` one as well. */
const letters = {
  encode: (text: string) =>
    text
      .split(END)
      .flatMap((part, index) => [...(index > 0 ? [EOS] : []), ...[...part].map((c) => c.charCodeAt(0))]),
  mayFit: () => true,
  decode: (ids: readonly number[]) => String.fromCharCode(...ids),
};

function learnt(row: object, learnRoles: LearnRole[]): string[] {
  const model = {
    ...characterModel,
    tokenizer: letters,
    chatTemplate: new ChatTemplate(nano),
    contextLength: 1000,
  };
  const codec = createPromptCodec(model as unknown as TextModel, {});
  const rows = [{ row: { prompt: [], row: {}, ...row }, where: "dataset row 1" }];
  const [sequence] = sftSequences(codec, rows, { kind: "sft", batchSize: 1, learnRoles });
  const texts: string[] = [];
  sequence?.ids.forEach((id, at) => {
    if (sequence.mask[at] !== 1) return;
    if (sequence.mask[at - 1] !== 1) texts.push("");
    texts[texts.length - 1] += id === EOS ? "$" : String.fromCharCode(id);
  });
  return texts;
}

const prompt = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "Add 2 and 2." },
  {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "1", type: "function", function: { name: "add", arguments: '{"a":2}' } }],
  },
  { role: "tool", content: "4", tool_call_id: "1" },
  { role: "assistant", content: "It is 4." },
  { role: "user", content: "And 3?" },
];

describe("a conversation", () => {
  it("is learnt answer by answer, calls and the ends of turns included, and the completion as well", () => {
    expect(learnt({ prompt, completion: "It is 5." }, ["assistant"])).toEqual([
      '<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>$',
      "It is 4.$",
      "It is 5.$",
    ]);
  });

  it.each<[LearnRole[], string[]]>([
    [["system"], ["Be kind."]],
    [["user"], ["Add 2 and 2.", "And 3?"]],
    [["tool"], ["4"]],
    [
      ["tool", "user"],
      ["Add 2 and 2.", "4", "And 3?"],
    ],
  ])("is learnt as %o say it", (roles, texts) => {
    expect(learnt({ prompt }, roles)).toEqual(texts);
  });

  it("is learnt as the template shows it: reasoning where it is kept, and not where it is dropped", () => {
    const thought = { role: "assistant", content: "4", reasoning_content: "two and two" };
    expect(learnt({ prompt: [{ role: "user", content: "2+2" }, thought] }, ["assistant"])).toEqual([
      "<think>two and two</think>4$",
    ]);
    const said = { role: "assistant", content: "<think>hm</think>4" };
    const turns = [{ role: "user", content: "2+2" }, said, { role: "user", content: "3+3" }];
    expect(learnt({ prompt: turns, completion: "6" }, ["assistant"])).toEqual(["4$", "6$"]);
  });

  it("without a message of the roles is an error that names the row", () => {
    expect(() => learnt({ prompt: prompt.slice(1, 2) }, ["tool"])).toThrow(
      expect.objectContaining({ code: "dataset_invalid", where: "dataset row 1" }),
    );
  });
});
