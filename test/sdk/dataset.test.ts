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

  it("takes whole texts from the text column, and none that is empty", async () => {
    const params = { textColumn: "t" };
    const [row] = await Dataset.fromArray([{ t: "An old pond." }], params).load();
    expect(row).toEqual({ prompt: [], text: "An old pond.", row: { t: "An old pond." } });
    await expect(Dataset.fromArray([{ t: "" }], params).load()).rejects.toMatchObject({
      code: "dataset_invalid",
      message: expect.stringContaining("row 0: the text to learn is empty") as string,
    });
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
    // What equals the default of all datasets is still what was asked for (57).
    expect(await prompts(new Haikus({ promptTemplate: "{input}" }))).toEqual(["rain", "snow"]);
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

describe("rows that cannot be used", () => {
  const cyclic: Record<string, unknown> = { keywords: "rain" };
  cyclic.self = { again: cyclic };
  let deep: unknown = "end";
  for (let depth = 0; depth < 20_000; depth++) deep = [deep];

  it.each([
    ["a circle", cyclic, 'the column "self.again" refers back to what it is part of'],
    [
      "nesting without end",
      { keywords: "x", deep },
      'the column "deep.0.0.0.0.0" is nested more than 500 deep',
    ],
    ["a BigInt", { keywords: "x", n: { big: 1n } }, 'the column "n.big" is a BigInt'],
    ["NaN", { keywords: "x", score: NaN }, 'the column "score" is NaN'],
    ["infinity", { keywords: "x", list: [1, -Infinity] }, 'the column "list.1" is -Infinity'],
  ])("name row and column of %s", async (_, row, what) => {
    await expect(Dataset.fromArray([...words, row], options).load()).rejects.toMatchObject({
      code: "dataset_invalid",
      where: "row 3",
      message: `row 3: ${what}.`,
    });
  });

  it("leave dates and what else writes itself as JSON alone", async () => {
    const rows = [{ keywords: "x", at: new Date(0), own: { big: 1n, toJSON: () => 1 } }];
    expect(await Dataset.fromArray(rows, options).load()).toHaveLength(1);
  });

  it("are told together, ten at most, with their number", async () => {
    const bad = (count: number) => [...words, ...Array.from({ length: count }, () => ({ other: 1 }))];
    const error = await Dataset.fromArray(bad(12), options)
      .load()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "dataset_invalid", where: "row 3" });
    const lines = (error as Error).message.split("\n");
    expect(lines[0]).toBe("12 rows are not valid; the first 10:");
    expect(lines).toHaveLength(11);
    expect(lines[10]).toMatch(/^ {2}row 12: no column "keywords"/);
    await expect(Dataset.fromArray(bad(2), options).load()).rejects.toThrow(
      /^2 rows are not valid:\n {2}row 3: /,
    );
  });

  it("are not all that can go wrong: other errors come as they are", async () => {
    class Broken extends Dataset {
      *rows(): Iterable<Row> {
        yield {};
        throw new TypeError("no network");
      }
    }
    await expect(new Broken().load()).rejects.toThrow("no network");
  });
});

describe("a template without a place for the row", () => {
  const template = 'Write a haiku. Answer as {{"text"}}';

  it("is refused where it makes all prompts equal", async () => {
    await expect(Dataset.fromArray(words, { promptTemplate: template }).load()).rejects.toMatchObject({
      code: "invalid_input",
      where: "promptTemplate",
    });
  });

  it("will do for one row, and where format() makes the prompts", async () => {
    expect(await Dataset.fromArray(words.slice(1, 2), { promptTemplate: template }).load()).toHaveLength(1);
    class Own extends Dataset {
      override rows = () => words;
      override format = (row: Row) => ({ prompt: [{ role: "user", content: String(row.keywords) }] });
    }
    expect(await new Own({ promptTemplate: template }).load()).toHaveLength(3);
  });
});

describe("Dataset.fromFile", () => {
  it.each([
    5,
    null,
    "",
    new URL("https://example.com/rows.jsonl"),
    "https://example.com/rows.jsonl",
    new URL("file:///a%2Fb"),
  ])("refuses %s", (file) => {
    expect(() => Dataset.fromFile(file as string)).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringMatching(/^Dataset\.fromFile: /) as string,
      }),
    );
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
