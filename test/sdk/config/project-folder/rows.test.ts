import { describe, expect, it } from "vitest";
import { checkRows } from "../../../../sdk/config/project-folder/check-rows.ts";
import { rowChecks } from "../../../../sdk/config/project-folder/row-checks.ts";
import type { Remark } from "../../../../sdk/config/project-folder/finding.ts";
import { short } from "./check.ts";
import { ROWS } from "./row-cases.ts";
import { checkLines, CONTEXT, row, tempFile } from "./rows.ts";

const GOOD = JSON.stringify(row({}));

describe("a row of train.jsonl", () => {
  it.each(ROWS)("%s", (_, value, expected, context = {}) => {
    const remarks: Remark[] = [];
    rowChecks(value, { ...CONTEXT, ...context }, (remark) => remarks.push(remark));
    const found = remarks.map(({ code, severity, path }) =>
      `${severity === "warning" ? "W " : ""}${code} ${path.join(".")}`.trim(),
    );
    expect(found).toEqual(expected);
    for (const { message, hint } of remarks) expect(`${message}|${hint}`).toMatch(/^\S.*\|\S.*$/);
  });
});

describe("train.jsonl", () => {
  it("is read with byte order mark, CRLF, blank lines, U+2028 and no newline at the end", async () => {
    const separated = JSON.stringify(row({ messages: [{ role: "user", content: "a\u2028b\u2029c" }] }));
    const text = `\uFEFF${GOOD}\r\n\r\n  \n${separated}\n${GOOD}`;
    const { rows, bytes, findings } = await checkLines(text);
    expect([rows, bytes]).toEqual([3, Buffer.byteLength(text)]);
    expect(short(findings)).toEqual(["W byte_order_mark 1:1"]);
  });

  it.each([
    [`${GOOD}\n{"messages": [}\n`, "row_syntax 2:15"],
    [`${GOOD}\n{"messages": []\n`, "row_syntax 2:16"],
    [`{"a": 1} x\n`, "row_syntax 1:10"],
    [`${GOOD},\n`, `row_syntax 1:${GOOD.length + 1}`],
    [`{'messages': 1}\n`, "row_syntax 1:2"],
    [`${GOOD}\n\u00a0{"a": 1}\n`, "row_syntax 2:1"],
  ])("names line and column of what is not JSON (17): %j", async (text, expected) => {
    expect(short((await checkLines(text)).findings)).toEqual([expected]);
  });

  it("points at the value within its row", async () => {
    const { findings } = await checkLines(
      `${GOOD}\n\n{"messages": [{"role": "bot", "content": 5}], "rewards": ["x"]}\n`,
    );
    expect(short(findings)).toEqual([
      "row_invalid 3:24 messages.0.role",
      "row_invalid 3:42 messages.0.content",
      "reward_unknown 3:59 rewards.0",
    ]);
  });

  it("checks the last row as carefully as the first (16)", async () => {
    const lines = Array.from({ length: 60 }, (_, index) =>
      JSON.stringify(row(index === 59 ? { rewards: ["nope"] } : {})),
    );
    expect(short((await checkLines(lines.join("\n"))).findings)).toEqual([
      `reward_unknown 60:${JSON.stringify(row({})).indexOf('"accuracy"') + 1} rewards.0`,
    ]);
  });

  it("reads what Python writes for numbers that are none", async () => {
    const line = `{"messages": [{"role": "user", "content": "NaN?"}], "rewards": ["accuracy"], "metadata": {"a": NaN, "b": -Infinity}}`;
    const { rows, findings } = await checkLines(line);
    expect([rows, short(findings)]).toEqual([1, ["W row_not_finite 1:1"]]);
  });

  it("tells numbers that TypeScript cannot hold, and only there", async () => {
    const line = GOOD.replace(
      "}]",
      '}], "metadata": {"text": "9007199254740993", "even": 9007199254740992, "id": 9007199254740993}',
    );
    const column = line.lastIndexOf("9007199254740993") + 1;
    expect(short((await checkLines(line, { hasTypeScript: true })).findings)).toEqual([
      `W number_inexact 1:${column}`,
    ]);
    expect((await checkLines(line)).findings).toEqual([]);
  });

  it("refuses rows that are nested deeper than anything reads them", async () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const line = (levels: number) =>
      JSON.stringify(row({})).replace(/}$/, `, "metadata": {"a": ${nested(levels)}}}`);
    const { rows, findings } = await checkLines([line(498), line(499), line(50_000), GOOD].join("\n"));
    expect([rows, short(findings)]).toEqual([4, ["row_syntax 2:1", "row_syntax 3:1"]]);
    expect(findings[0]?.message).toBe("has more than 500 lists or objects within each other");
  });

  it("refuses lines that are not UTF-8, each by its number", async () => {
    const text = Buffer.concat([
      Buffer.from(`${GOOD}\n`),
      Buffer.from([0x7b, 0xff, 0x7d, 10]),
      Buffer.from(GOOD),
    ]);
    const { rows, findings } = await checkLines(text);
    expect([rows, short(findings)]).toEqual([2, ["row_syntax 2:1"]]);
  });

  it("reads rows that span many chunks", async () => {
    const long = JSON.stringify(row({ metadata: { note: "é".repeat(1_500_000) } }));
    const { rows, findings } = await checkLines(`${long}\n${GOOD}\n${long}`);
    expect([rows, findings]).toEqual([3, []]);
  });

  it("keeps the first findings of a kind and counts the rest", async () => {
    const bad = Array.from({ length: 1_000 }, () => JSON.stringify(row({ rewards: ["nope"] })));
    const { findings } = await checkLines(bad.join("\n"));
    expect(findings).toHaveLength(201);
    expect(findings.at(-1)).toMatchObject({ line: null, message: "800 more findings of this kind" });
  });

  it.each(["", "\n\n", "\uFEFF"])("says of %j that it has no rows", async (text) => {
    const errors = (await checkLines(text)).findings.filter(({ severity }) => severity === "error");
    expect(errors.map(({ code, message }) => [code, message])).toEqual([["rows_missing", "has no rows"]]);
  });

  it("stops where it is when nobody waits any more", async () => {
    const signal = AbortSignal.abort(new Error("Interrupted."));
    const params = { path: tempFile(GOOD), file: "train.jsonl", context: CONTEXT, signal };
    await expect(checkRows(params)).rejects.toThrow("Interrupted.");
  });

  it("knows what an engine will need", async () => {
    const image = { role: "user", content: [{ type: "image", image: "data:image/png;base64,AA==" }] };
    const { hasImages, hasDocker } = await checkLines(
      JSON.stringify(row({ messages: [image], docker: "python:3.11" })),
    );
    expect([hasImages, hasDocker]).toEqual([true, true]);
    expect(await checkLines(GOOD)).toMatchObject({ hasImages: false, hasDocker: false });
  });
});
