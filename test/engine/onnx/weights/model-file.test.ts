import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openModelFile, readModelText } from "../../../../engine/onnx/weights/model-file.ts";
import { expectError } from "../support/errors.ts";
import { temporaryFolder } from "../support/temporary.ts";

describe("a file of a model folder", () => {
  it("may be a link to one, as hub caches have them", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "blob"), "text");
    const link = join(folder.path, "link");
    await symlink("blob", link);
    expect(await readModelText(link)).toBe("text");
    await (await openModelFile(link)).close();
  });

  it("is nothing that has no end", { timeout: 5_000 }, async () => {
    await using folder = await temporaryFolder();
    const pipe = join(folder.path, "pipe");
    const dir = join(folder.path, "dir");
    execFileSync("mkfifo", [pipe]);
    await mkdir(dir);
    for (const path of [pipe, dir, "/dev/zero"]) {
      await expectError(() => readModelText(path), "model_corrupt", path);
      await expectError(() => openModelFile(path), "model_corrupt", path);
    }
  });

  it("tells by the file system's code that it is missing", async () => {
    await expect(readModelText("/nowhere/config.json")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
