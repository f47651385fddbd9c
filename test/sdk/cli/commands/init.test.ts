import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCli } from "../run-cli.ts";

it("spotter init writes a project that spotter validate takes, once", async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "spotter-init-")), "sums");
  onTestFinished(() => rm(join(folder, ".."), { recursive: true }));
  const made = await runCli(["init", "-d", folder, "--template", "math", "--json"]);
  expect(made).toMatchObject({ code: 0, err: "" });
  const { files } = JSON.parse(made.out) as { files: string[] };
  expect(readdirSync(folder).sort()).toEqual(files.toSorted());
  expect((await runCli(["validate", "-d", folder])).code).toBe(0);
  expect(await runCli(["init", folder])).toMatchObject({
    code: 2,
    err: expect.stringContaining("[conflict]") as string,
  });
});
