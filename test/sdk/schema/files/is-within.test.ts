import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isWithin } from "../../../../sdk/schema/files/is-within.ts";

it("follows links, also those above what is not there yet", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "spotter-within-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const home = join(root, "home");
  mkdirSync(join(home, "blobs"), { recursive: true });
  symlinkSync(home, join(root, "link"));
  const answers = await Promise.all(
    [
      home,
      `${home}/`,
      join(home, "blobs/a/b"),
      join(root, "link/new/file"),
      join(root, "x/../home/y"),
      root,
      `${home}-other`,
      join(home, "../elsewhere"),
    ].map((path) => isWithin(path, home)),
  );
  expect(answers).toEqual([true, true, true, true, true, false, false, false]);
  expect(await isWithin(home, join(root, "link"))).toBe(true);
  expect(await isWithin(home, "/")).toBe(true);
});
