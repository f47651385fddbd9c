import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "./run-cli.ts";

describe("a word that is no value", () => {
  it.each(["validate", "test", "run", "eval", "dev"])(
    "is told to be a folder's name: %s",
    async (command) => {
      const root = mkdtempSync(join(tmpdir(), "spotter-words-"));
      onTestFinished(() => rmSync(root, { recursive: true }));
      const folder = join(root, "my project");
      mkdirSync(folder);
      const { code, err } = await runCli([command, folder]);
      expect(code).toBe(2);
      expect(err).toContain(`error ${folder} is a folder: it is named with -d. [invalid_input]`);
      expect(err).toContain(`spotter ${command} -d ${JSON.stringify(folder)}`);
    },
  );

  it("is a verb that there is not, or none of the values", async () => {
    expect((await runCli("run lsit")).err).toContain("Unknown command 'lsit'. Did you mean list?");
    expect((await runCli("validate nonesuch")).err).toContain("Too many arguments for 'validate'.");
  });
});
