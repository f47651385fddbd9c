import { describe, expect, it } from "vitest";
import { Dataset } from "../../sdk/dataset.ts";
import type { Row } from "../../sdk/dataset-rows.ts";

const words = [{ keywords: "rain" }, { keywords: "snow" }, { keywords: "wind" }];
const options = { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." };

async function prompts(dataset: Dataset): Promise<unknown[]> {
  return (await dataset.load()).map(({ prompt }) => prompt.at(-1)?.content);
}

describe("Dataset.fromArray", () => {
  it("fills the template and keeps the row", async () => {
    const dataset = Dataset.fromArray(words, { ...options, systemPrompt: "Be brief." });
    expect((await dataset.load())[0]).toEqual({
      prompt: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Write a haiku about rain." },
      ],
      row: { keywords: "rain" },
    });
    expect([dataset.inputColumn, dataset.promptTemplate]).toEqual(["keywords", options.promptTemplate]);
  });

  it("takes the answer from the output column", async () => {
    const dataset = Dataset.fromArray([{ q: 1, a: { b: 2 } }], { inputColumn: "q", outputColumn: "a" });
    expect((await dataset.load())[0]).toMatchObject({ prompt: [{ content: "1" }], completion: '{"b":2}' });
  });

  it("takes messages and prompt columns as they are", async () => {
    const messages = [{ role: "user", content: "Hi" }];
    expect(await prompts(Dataset.fromArray([{ messages }, { prompt: "Ho" }]))).toEqual(["Hi", "Ho"]);
  });

  it("names the row and the nearest column where something is missing", async () => {
    const dataset = Dataset.fromArray([{ keywords: "rain" }, { keyword: "snow" }], {
      ...options,
      name: "words",
    });
    await expect(dataset.load()).rejects.toMatchObject({
      code: "dataset_invalid",
      where: "row 1 of words",
      message: 'row 1 of words: no column "keywords"; did you mean "keyword"?',
      hint: "Set inputColumn to one of: keyword",
    });
    await expect(Dataset.fromArray([{ keywords: null }], options).load()).rejects.toMatchObject({
      message: 'row 0: the column "keywords" is null.',
    });
    await expect(Dataset.fromArray([7 as unknown as Row]).load()).rejects.toMatchObject({
      code: "dataset_invalid",
    });
    await expect(Dataset.fromArray([{ x: 1 }]).load()).rejects.toMatchObject({ code: "dataset_invalid" });
  });

  it("refuses to be empty", async () => {
    await expect(Dataset.fromArray([]).load()).rejects.toMatchObject({ code: "dataset_empty" });
  });

  it("names unknown and wrong options, all at once", () => {
    expect(() => Dataset.fromArray(words, { inputColum: "x", name: 3 } as never)).toThrow(
      /inputColum: unknown key; did you mean "inputColumn"\?\n {2}name: is a number, expected string/,
    );
  });
});

describe("a subclass", () => {
  class Haikus extends Dataset {
    override inputColumn = "topic";
    override promptTemplate = "Haiku: {input}";
    override *rows() {
      yield { topic: "rain" };
      yield { topic: "snow" };
    }
  }

  it("sets defaults in its fields, which options override", async () => {
    expect(await prompts(new Haikus())).toEqual(["Haiku: rain", "Haiku: snow"]);
    expect(await prompts(new Haikus({ promptTemplate: undefined }))).toEqual(["Haiku: rain", "Haiku: snow"]);
    expect(await prompts(new Haikus({ promptTemplate: "{topic}!" }))).toEqual(["rain!", "snow!"]);
  });

  it("may format as it likes, and errors in there name the row", async () => {
    class Odd extends Haikus {
      override format(row: Row) {
        if (row.topic === "snow") throw new Error("too cold");
        return { prompt: [{ role: "user", content: "x" }], completion: "y" };
      }
    }
    expect((await new Odd().slice(0, 1).load())[0]).toMatchObject({
      completion: "y",
      row: { topic: "rain" },
    });
    await expect(new Odd().load()).rejects.toMatchObject({ where: "row 1", message: "row 1: too cold." });
  });
});

describe("slice", () => {
  it("cuts as arrays do and keeps formatting", async () => {
    const dataset = Dataset.fromArray(words, options);
    expect(await prompts(dataset.slice(1))).toEqual([
      "Write a haiku about snow.",
      "Write a haiku about wind.",
    ]);
    expect(await prompts(dataset.slice(-1))).toEqual(["Write a haiku about wind."]);
    expect(await prompts(dataset.slice(0, -2))).toEqual(["Write a haiku about rain."]);
    expect(await prompts(dataset.slice(0, 2).slice(1))).toEqual(["Write a haiku about snow."]);
    expect(dataset.slice(0, 1).inputColumn).toBe("keywords");
    await expect(dataset.slice(3).load()).rejects.toMatchObject({ code: "dataset_empty" });
  });
});
