import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { planOf } from "../../../../sdk/cli/aws/plan.ts";

/** A clone whose program is this. */
function programOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-plan-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "infra"));
  writeFileSync(join(folder, "infra", "preflight.ts"), text);
  return folder;
}

it("tells the program its settings, however large, unseen, and none that are others'", async () => {
  const folder = programOf(`
    const { readFileSync } = await import("node:fs");
    const settings = JSON.parse(readFileSync(0, "utf8"));
    const message = process.argv.length + " " + Object.keys(settings) + " " + settings["spotter:domain"].length;
    console.log(JSON.stringify({ findings: [{ path: "domain", message, remedy: "shorten it" }] }));
  `);
  const domain = "é".repeat(1_000_000);
  expect(await planOf(folder, { "spotter:domain": domain, "aws:secretKey": "hunter2" })).toEqual({
    findings: [{ path: "domain", message: "2 spotter:domain 1000000", remedy: "shorten it" }],
  });
});

it("says what to do where the program cannot run", async () => {
  const settings = { "spotter:domain": "x".repeat(1_000_000) };
  await expect(planOf(programOf('import "not-installed";'), settings)).rejects.toMatchObject({
    code: "internal",
    hint: expect.stringContaining("npm ci") as string,
  });
});
