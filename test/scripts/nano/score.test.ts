import { beforeAll, describe, expect, it } from "vitest";
import type { GenerateRequest } from "../../../engine/onnx/engine-api.ts";
import { loadTextModel, type TextModel } from "../../../engine/onnx/text/text-model.ts";
import { scoreHaikus, scoreSkills } from "../../../scripts/nano/score.ts";

let text: TextModel;

beforeAll(async () => {
  text = await loadTextModel(new URL("../../../engine/models/nano", import.meta.url).pathname);
});

/** A model that answers each prompt as `reply` says. */
function answering(reply: (prompt: string, request: GenerateRequest) => string) {
  return async (requests: readonly GenerateRequest[]) =>
    requests.map((request) => {
      const prompt = text.tokenizer.decode(request.promptIds, { special: true });
      return text.tokenizer.encode(`${reply(prompt, request)}<|end|>`);
    });
}

describe("scoreHaikus", () => {
  it("summarises poems by word", async () => {
    const perfect = "the old silent rain\na frog jumps into the pond\nsplash silence again";
    const seeds: number[] = [];
    const sample = answering((prompt, { seed, temperature }) => {
      expect(temperature).toBe(1);
      seeds.push(seed);
      return prompt.includes("rain") ? perfect : "moon";
    });
    const scores = await scoreHaikus(sample, text, ["rain", "moon", "sun", "sky"], 2);
    expect(new Set(seeds).size).toBe(8);
    expect(scores).toMatchObject({
      samples: 8,
      mean: -7.5,
      perfect: 0.25,
      notThreeLines: 0.75,
      namesTopic: 0.5,
      distinctLines: 4,
    });
    expect(scores.high - scores.mean).toBeCloseTo((1.96 * Math.sqrt(18.75)) / Math.sqrt(8));
    expect(scores.mean - scores.low).toBeCloseTo(scores.high - scores.mean);
  });
});

describe("scoreSkills", () => {
  it("is 1 throughout for a model that is always right", async () => {
    const sample = answering((prompt) => {
      const sum = /What is (\d+) \+ (\d+)/.exec(prompt);
      const word = /"(\w+)"[.?]<\|end\|>/.exec(prompt)?.[1] ?? "";
      const call = (name: string, args: object) =>
        `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
      if (prompt.includes("Tools:")) {
        if (sum) return call("add", { a: Number(sum[1]), b: Number(sum[2]) });
        return call(prompt.includes("syllables are") ? "count_syllables" : "reverse", { word });
      }
      return sum ? String(Number(sum[1]) + Number(sum[2])) : [...word].reverse().join("");
    });
    expect(await scoreSkills(sample, text, 1, 30)).toEqual({
      additionSeen: 1,
      additionHeldOut: 1,
      reverseWord: 1,
      reverseLetters: 1,
      toolCall: 1,
    });
  });

  it("is 0 throughout for a model that says nothing of use", async () => {
    const scores = await scoreSkills(
      answering(() => '<tool_call>{"name":"add"}</tool_call>'),
      text,
      1,
      10,
    );
    expect(Object.values(scores)).toEqual([0, 0, 0, 0, 0]);
  });
});
