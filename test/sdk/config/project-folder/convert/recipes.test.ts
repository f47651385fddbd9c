import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { gsm8kAnswer, mathAnswer } from "../../../../../sdk/config/project-folder/convert/answers.ts";
import { convertRows } from "../../../../../sdk/config/project-folder/convert/convert-rows.ts";
import { RECIPES } from "../../../../../sdk/config/project-folder/convert/recipes.ts";
import { validateProject } from "../../../../../sdk/config/project-folder/validate.ts";
import type { Row } from "../../../../../sdk/dataset-rows.ts";
import { runCli } from "../../../cli/run-cli.ts";
import { BASE } from "../check.ts";
import { projectFolder } from "../folder.ts";

async function* each(rows: Row[]): AsyncIterable<Row> {
  yield* rows;
}

async function converted(to: string, rows: Row[], columns: object = {}): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of convertRows(each(rows), { to, ...columns })) all.push(row);
  return all;
}

const asked = (content: string, expected: unknown) => ({
  messages: [{ role: "user", content }],
  rewards: ["accuracy"],
  metadata: { expected_answer: expected },
});
const answered = (question: string, answer: string) => ({
  messages: [
    { role: "user", content: question },
    { role: "assistant", content: answer },
  ],
});

/** A row of each form as the hub has it, and what becomes of it. */
const CASES: Record<string, [Row, object][]> = {
  sft: [[{ question: "Why?", answer: "Because.", id: 1 }, answered("Why?", "Because.")]],
  alpaca: [
    [
      { instruction: "Sum up.", input: "A long text.", output: "Short." },
      answered("Sum up.\n\nInput: A long text.", "Short."),
    ],
    [{ instruction: "Say hi.", input: "", output: "Hi." }, answered("Say hi.", "Hi.")],
    [{ instruction: "Say hi.", output: "Hi." }, answered("Say hi.", "Hi.")],
  ],
  conversations: [
    [
      {
        conversations: [
          { from: "system", value: "Be kind." },
          { from: "human", value: "Hi." },
          { from: "gpt", value: "Hello." },
          { from: "human", value: "Bye." },
          { from: "gpt", value: "See you." },
        ],
      },
      {
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: "Hi." },
          { role: "assistant", content: "Hello." },
          { role: "user", content: "Bye." },
          { role: "assistant", content: "See you." },
        ],
      },
    ],
  ],
  rl: [
    [{ question: "2 + 2?", answer: "4" }, asked("2 + 2?", "4")],
    [{ question: "2 + 2?", answer: 4 }, asked("2 + 2?", 4)],
  ],
  gsm8k: [
    [
      { question: "How many?", answer: "He has 16 - 3 = <<16-3=13>>13.\n#### 1,300" },
      asked("How many?", "1,300"),
    ],
  ],
  math: [[{ problem: "Solve.", solution: "So $x = \\boxed{\\sqrt{2}}$." }, asked("Solve.", "$$\\sqrt{2}$$")]],
};

describe.each(Object.keys(RECIPES))("--to %s", (name) => {
  const cases = CASES[name] ?? [];

  it("makes rows of a project of a dataset's", async () => {
    expect(cases.length).toBeGreaterThan(0);
    const rows = await converted(
      name,
      cases.map(([row]) => row),
    );
    expect(rows).toEqual(cases.map(([, expected]) => expected));
  });

  it("writes a file that validates, by the command", async () => {
    const isLearnt = ["sft", "alpaca", "conversations"].includes(name);
    const config = BASE.replace("batch_size: 4", "batch_size: 1");
    const project = projectFolder({
      "config.yml": isLearnt ? config.replace("dataset_type: rl", "dataset_type: sft") : config,
      "train.jsonl": undefined,
      ...(isLearnt && { "rewards.py": undefined }),
    });
    const source = join(project, "source.jsonl");
    writeFileSync(source, cases.map(([row]) => JSON.stringify(row)).join("\n"));
    const target = join(project, "train.jsonl");
    const { code, out, err } = await runCli(["dataset", "convert", source, target, "--to", name]);
    const rows = cases.length === 1 ? "1 row is" : `${cases.length} rows are`;
    expect([code, err, out]).toEqual([0, "", `${rows} in ${target}.\n`]);
    expect((await validateProject(project)).findings).toEqual([]);
  });
});

describe("answers", () => {
  it.each([
    ["It is 5.\n#### 5", "5"],
    ["#### 5\nNo:\n####   -7.50 \n", "-7.50"],
    ["There is no mark: 5", "There is no mark: 5"],
    ["#### 5\nand more", "#### 5\nand more"],
  ])("of gsm8k: %j is %j", (solution, answer) => {
    expect(gsm8kAnswer(solution)).toBe(answer);
  });

  it.each([
    ["\\boxed{42}", "42"],
    ["\\boxed{-3.5}", "-3.5"],
    ["\\boxed{1,000}", "$$1,000$$"],
    ["\\boxed{$x$}", "$x$"],
    ["\\boxed{\\(x\\)}", "\\(x\\)"],
    ["\\boxed{\\frac{1}{\\sqrt{2}}} and \\boxed{3}", "$$\\frac{1}{\\sqrt{2}}$$"],
    ["\\boxed{\\{1, 2\\}}", "$$\\{1, 2\\}$$"],
    ["\\boxed{\\left\\{ x \\right.}", "$$\\left\\{ x \\right.$$"],
    ["\\boxed{} so \\boxed{5}", "5"],
    ["\\boxed{never closed", "$$\\boxed{never closed$$"],
    ["7", "7"],
    ["x + 1", "$$x + 1$$"],
  ])("of math: %j is %j", (solution, answer) => {
    expect(mathAnswer(solution)).toBe(answer);
  });
});

describe("what does not fit", () => {
  it("names row and column", async () => {
    const rows = [
      { question: "a", answer: "b" },
      { Question: "a", answer: "b" },
    ];
    await expect(converted("sft", rows)).rejects.toMatchObject({
      code: "dataset_invalid",
      message: 'Row 1: the column "question" is not there; the row has Question, answer.',
    });
    await expect(converted("sft", [{ question: "a", answer: [1] }])).rejects.toMatchObject({
      message: 'Row 0: the column "answer" is no text.',
    });
    await expect(converted("conversations", [{ conversations: [{ from: "gpt" }] }])).rejects.toMatchObject({
      message: 'Row 0: the column "conversations" has a turn 0 without from and value.',
    });
    const columns = { inputColumn: "Question", outputColumn: "reply" };
    expect(await converted("rl", [{ Question: "a", reply: "b" }], columns)).toEqual([asked("a", "b")]);
  });

  it.each([
    [["out.jsonl", "--to", "gsm8"], "Did you mean gsm8k?"],
    [["out.parquet", "--to", "sft"], "is no .jsonl file"],
    [["there.jsonl", "--to", "sft"], "exists already"],
    [["out.jsonl", "--input-column", "question"], "there is none"],
  ])("refuses %j before anything is written", async ([out = "", ...words], message) => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-convert-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const source = join(folder, "in.jsonl");
    writeFileSync(source, '{"question": "a", "answer": "b"}\n');
    writeFileSync(join(folder, "there.jsonl"), "mine");
    const { code, err } = await runCli(["dataset", "convert", source, join(folder, out), ...words]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(readFileSync(join(folder, "there.jsonl"), "utf8")).toBe("mine");
  });
});
