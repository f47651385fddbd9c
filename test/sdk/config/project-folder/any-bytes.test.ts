import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FINDING_CODES } from "../../../../sdk/config/project-folder/finding-codes.ts";
import { validateProject } from "../../../../sdk/config/project-folder/validate.ts";
import { PROJECT, projectFolder } from "./folder.ts";

const BYTES = Buffer.from([0xff, 0xfe, 0x00, 0x7b]);
const FILES = ["config.yml", "train.jsonl", "rewards.py", "requirements.txt", ".env", "catalogue.json"];

/** What breaks readers, in any order. */
const WORDS = fc.constantFrom(
  ...["{", "}", "[", ":", "\n", "  ", '"', "'", "#", "- ", "a", "data", "1", "&x", "*x", "<<", "!!int", "\t"],
  ...[
    "\u2028",
    "é",
    "def f(",
    "@reward",
    "'''",
    "-----",
    "null",
    "1e999",
    "\\",
    "\r\n",
    "constructor",
    "__proto__: ",
  ],
);

describe("a project folder of any bytes", () => {
  it.each([...FILES, "rewards.ts", "tools.py"])(
    "says what is wrong with a folder, a pipe, a device and no text in place of %s",
    async (name) => {
      const folder = projectFolder({ [name]: undefined });
      const path = join(folder, name);
      const told = async () => (await validateProject(folder)).findings.filter(({ file }) => file === name);
      mkdirSync(path);
      expect(await told()).not.toEqual([]);
      rmSync(path, { recursive: true });
      // Whoever opens it waits for somebody who writes.
      execFileSync("mkfifo", [path]);
      expect(await told()).toMatchObject([{ message: "is a pipe or a device, expected a file" }]);
      rmSync(path);
      symlinkSync("/dev/zero", path);
      expect(await told()).toMatchObject([{ message: "is a pipe or a device, expected a file" }]);
      rmSync(path);
      writeFileSync(path, BYTES);
      expect(await told()).not.toEqual([]);
    },
  );

  it("is never a crash: every finding has a code, a reason, a remedy and a possible place", async () => {
    const folder = projectFolder();
    const text = fc.oneof(
      fc.array(WORDS, { maxLength: 30 }).map((words) => words.join("")),
      fc.string({ unit: "binary", maxLength: 40 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...FILES), text, async (name, content) => {
        const path = join(folder, name);
        writeFileSync(path, content);
        const { findings } = await validateProject(folder);
        const before = PROJECT[name];
        if (before === undefined) rmSync(path);
        else writeFileSync(path, before);
        for (const { code, message, hint, line, column } of findings) {
          expect(Object.keys(FINDING_CODES)).toContain(code);
          expect(message.trim() && hint.trim()).toBeTruthy();
          expect(line === null ? column === null : line >= 1 && (column ?? 1) >= 1).toBe(true);
        }
      }),
      { numRuns: 120 },
    );
  }, 20_000);
});
