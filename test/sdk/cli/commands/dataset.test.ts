import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DatasetRef } from "../../../../sdk/schema/run-spec.ts";
import { jsonl, parquet, words } from "../../../fakes/haiku-files.ts";
import { ADMIN_KEY, testPlane } from "../../../fakes/control-plane.ts";
import { COMMIT, fakeHub } from "../../../fakes/hub.ts";
import { listening } from "../../../fakes/listening.ts";
import { runCli } from "../run-cli.ts";

function fileWith(name: string, content: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-cli-dataset-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

describe("spotter dataset inspect", () => {
  it("shows rows, columns and token counts of a hub dataset", async () => {
    await fakeHub({ "datasets/statworx/haiku": { files: { "train.parquet": parquet(words(40)) } } });
    const args = ["dataset", "inspect", "hf:statworx/haiku", "--split", "train[:50%]"];
    const more = [
      "--input-column",
      "keywords",
      "--output-column",
      "text",
      "--prompt-template",
      "About {input}.",
    ];
    const { code, out } = await runCli([...args, ...more, "--rows", "1"]);
    expect(code).toBe(0);
    expect(out).toContain(`20 rows at ${COMMIT.slice(0, 7)}`);
    expect(out).toMatch(/COLUMN +TYPE +MISSING\nkeywords +string +0\ntext +string +0/);
    expect(out).toMatch(
      /TOKENS \(spotter\/nano\) +P50 +P95 +MAX\nprompt +\d+ +\d+ +\d+\ncompletion +\d+ +\d+ +\d+/,
    );
    expect(out).toContain("Row 0\nuser: About topic 0.\ncompletion: haiku 0");
    expect(out).not.toContain("Row 1");
    const found = JSON.parse((await runCli([...args, ...more, "--json"])).out) as Record<string, unknown>;
    expect(found).toMatchObject({ rows: 20, source: { commit: COMMIT }, model: "spotter/nano" });
  });

  it("counts as the model's own tokenizer and chat template do", async () => {
    const { loadTextModel } = await import("../../../../engine/onnx/text/text-model.ts");
    const { tokenizer, chatTemplate } = await loadTextModel("engine/models/nano");
    const prompts = ["rain", "old pond, frog", "x".repeat(300)];
    const file = fileWith("rows.jsonl", jsonl(prompts.map((q) => ({ q }))));
    const { out } = await runCli(`dataset inspect ${file} --input-column q --json`);
    const counts = prompts
      .map((content) => tokenizer.encode(chatTemplate?.render([{ role: "user", content }]) ?? "").length)
      .sort((a, b) => a - b);
    expect(JSON.parse(out)).toMatchObject({
      promptTokens: { p50: counts[1], p95: counts[2], max: counts[2] },
    });
  });

  it("shows a file whose columns nobody has named yet", async () => {
    const file = fileWith("rows.csv", "a,b\n1,2\n");
    const { code, out } = await runCli(`dataset inspect ${file}`);
    expect(code).toBe(0);
    expect(out).toContain('row: {"a":"1","b":"2"}');
    expect(out).toMatch(/^1 row\n/);
    const target = `${file}.jsonl`;
    expect((await runCli(`dataset convert ${file} ${target}`)).out).toBe(`1 row is in ${target}.\n`);
  });

  it("names what is wrong", async () => {
    const file = fileWith("rows.csv", "a,b\n1\n");
    expect(await runCli(`dataset inspect ${file}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${file}:2`) as string,
    });
    expect((await runCli(`dataset inspect ${file} --split train`)).code).toBe(2);
    expect((await runCli(`dataset inspect ${file} --model /nowhere`)).err).toContain("[model_not_found]");
  });
});

describe("spotter dataset convert", () => {
  it("writes the columns as they are, in both directions", async () => {
    const rows = words(25);
    const file = fileWith("rows.jsonl", jsonl(rows));
    const target = join(file, "..", "rows.parquet");
    expect((await runCli(`dataset convert ${file} ${target}`)).out).toBe(`25 rows are in ${target}.\n`);
    const back = join(file, "..", "back.jsonl");
    expect((await runCli(`dataset convert ${target} ${back} --json`)).out).toBe(
      `${JSON.stringify({ rows: 25, path: back })}\n`,
    );
    expect(readFileSync(back, "utf8")).toBe(jsonl(rows));
    expect((await runCli(`dataset convert ${file} ${join(file, "..", "rows.xml")}`)).code).toBe(2);
  });
});

describe("spotter dataset push", () => {
  it("uploads the rows and prints what a run refers to", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const url = await listening(plane, onTestFinished);
    const file = fileWith("rows.jsonl", jsonl(words(3)));
    const line = `dataset push ${file} --input-column keywords --name topics`;
    const { out } = await runCli(`${line} --json`, { url, key: ADMIN_KEY });
    const ref = JSON.parse(out) as DatasetRef;
    expect(ref).toMatchObject({ rows: 3, inputColumn: "keywords", name: "topics" });
    expect(await plane.json("GET", `/datasets/${ref.sha256}`)).toMatchObject({ rows: 3, name: "topics" });
    expect((await runCli(line, { url, key: ADMIN_KEY })).out).toBe(`3 rows are stored as ${ref.sha256}.\n`);
  });
});
