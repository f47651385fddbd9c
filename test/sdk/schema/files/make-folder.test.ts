import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "../../../../sdk/schema/files/make-folder.ts";

it("makes what is missing, and says at once where nothing can be made", async () => {
  const root = mkdtempSync(join(tmpdir(), "spotter-folders-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const deep = join(root, "a", "b", "c");
  await Promise.all([makeFolder(deep), makeFolder(deep)]);
  await makeFolder(deep);
  expect(statSync(deep).isDirectory()).toBe(true);
  writeFileSync(join(root, "file"), "");
  await expect(makeFolder(join(root, "file"))).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(root, "file", "x"))).rejects.toMatchObject({ code: "ENOTDIR" });
  if (existsSync("/proc/self"))
    await expect(makeFolder("/proc/nope/deeper")).rejects.toMatchObject({ code: "ENOENT" });
});
