import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../run-cli.ts";

function project(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-validate-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe("spotter validate", () => {
  it("prints where, what and how to mend it, and ends with 2", async () => {
    const folder = project({ "config.yml": "dataset_type: rl\ntrainer: { save_step: 0, num_epochs: 1 }\n" });
    const { code, out, err } = await runCli(["validate", "-d", folder]);
    expect([code, err]).toEqual([2, ""]);
    expect(out).toContain(
      "config.yml:2:23 error trainer.save_step is 0, which once meant the end of an epoch [save_step_zero]\n" +
        "    Write -1 to save at the end only, or N to save every N steps as well.\n",
    );
    expect(out).toMatch(/\nNot valid: \d+ errors? \(\d+\.\d\ds\)\n$/);
  });

  it("prints { ok, findings } for programs", async () => {
    const folder = project({ "config.yml": "dataset_type: rl\n" });
    const { code, out, err } = await runCli(["validate", "-d", folder, "--json"]);
    expect([code, err]).toEqual([2, ""]);
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: object[] };
    expect(ok).toBe(false);
    expect(findings).toContainEqual({
      code: "missing_key",
      severity: "error",
      file: "config.yml",
      line: 1,
      column: 1,
      path: "trainer",
      message: "is missing",
      hint: "Write a section trainer with num_epochs.",
    });
  });

  it("prints the JSON Schema for editors, wherever it is asked", async () => {
    const { code, out } = await runCli("validate -d /no/such/folder --schema");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      properties: { dataset_type: { description: expect.any(String) as string } },
    });
  });

  it("says what to do where there is no project", async () => {
    const { code, out } = await runCli(["validate", "-d", project({})]);
    expect(code).toBe(2);
    expect(out).toContain("config.yml error there is none in this folder [config_missing]");
    expect((await runCli("validate -d /no/such/folder")).out).toContain("does not exist");
    const file = join(project({ "config.yml": "" }), "config.yml");
    expect((await runCli(["validate", "-d", file])).out).toContain("is a file, expected the folder it is in");
  });

  it("lets nothing of a file move or colour the terminal", async () => {
    const config = 'dataset_type: "\\e[31mred\\e[2J\\e]0;title\\a"\n"k\\ney": 1\n';
    const folder = project({
      "config.yml": config,
      "train.jsonl": '{"messages": [{"role": "\\u001b[2Jx"}]}\n',
    });
    const { out } = await runCli(["validate", "-d", folder]);
    expect(out).toContain("red");
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});
