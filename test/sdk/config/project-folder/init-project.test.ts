import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { initProject } from "../../../../sdk/config/project-folder/init-project.ts";
import { resolveProject } from "../../../../sdk/config/project-folder/resolve-project.ts";
import { TEMPLATES } from "../../../../sdk/config/project-folder/templates/index.ts";

const EXAMPLE = new URL("../../../../examples/project-folder/", import.meta.url);

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-init-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("initProject", () => {
  it.each(Object.keys(TEMPLATES))("writes %s, which is valid without a word of warning", async (template) => {
    const folder = join(emptyFolder(), "new");
    const files = await initProject(folder, { template, name: 'A "name": # x' });
    expect(readdirSync(folder).sort()).toEqual(files.toSorted());
    const { project, runs, findings } = await resolveProject(folder);
    expect(findings).toEqual([]);
    expect(project?.config.project_name).toBe('A "name": # x');
    expect(runs.flatMap(({ limits }) => limits)).toEqual([]);
  });

  it("overwrites nothing, and then writes nothing", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, "rewards.ts"), "mine");
    await expect(initProject(folder)).rejects.toMatchObject({
      code: "conflict",
      message: `rewards.ts exists in ${folder}; nothing is overwritten.`,
    });
    expect(readdirSync(folder)).toEqual(["rewards.ts"]);
    expect(readFileSync(join(folder, "rewards.ts"), "utf8")).toBe("mine");
  });

  it("names the template that was meant, and folders it cannot write into", async () => {
    await expect(initProject(emptyFolder(), { template: "maths" })).rejects.toMatchObject({
      code: "not_found",
      hint: "Did you mean math?",
    });
    await expect(initProject(emptyFolder(), { template: "constructor" })).rejects.toMatchObject({
      code: "not_found",
    });
    const file = join(emptyFolder(), "file");
    writeFileSync(file, "");
    await expect(initProject(join(file, "below"))).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("wrote the example", async () => {
    const folder = emptyFolder();
    const files = await initProject(folder, { name: "Haiku" });
    for (const file of files)
      expect(readFileSync(new URL(file, EXAMPLE), "utf8"), file).toBe(
        readFileSync(join(folder, file), "utf8"),
      );
    expect(readdirSync(EXAMPLE).sort()).toEqual(files.toSorted());
  });
});
