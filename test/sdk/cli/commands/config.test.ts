import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "spotter-config-"));
afterAll(() => rmSync(folder, { recursive: true }));
const base = file("base.toml", 'max_steps = 5\n[optim]\ntype = "muon"\nmu = 0.9\nlr = 1e-3\n');
const overlay = file("overlay.toml", "[optim]\nlr = 1e-4\n");

describe("spotter config explain", () => {
  it("tells the value, who said it, who was overridden, and what the setting is", async () => {
    const words = ["config", "explain", "sft", "optim.lr", "@", base, "@", overlay, "--optim.lr", "2e-5"];
    const { code, out } = await runCli([...words, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      settings: [
        {
          path: "optim.lr",
          value: 2e-5,
          from: "--optim.lr",
          said: [
            { value: 1e-3, from: `${base}:5` },
            { value: 1e-4, from: `${overlay}:2` },
            { value: "2e-5", from: "--optim.lr" },
          ],
          takes: "NUMBER",
          about: expect.stringMatching(/./) as string,
        },
      ],
      findings: [],
    });
    const shown = await runCli(words);
    expect(shown.out).toContain("optim.lr = 0.00002  from --optim.lr\n");
    expect(shown.out).toContain(`  ${overlay}:2 said 0.0001\n  ${base}:5 said 0.001\n`);
  });

  it("shows all of a section, and without a setting all that is said", async () => {
    const section = await runCli(["config", "explain", "sft", "optim", "@", base]);
    expect(section.out).toMatch(/^optim\.weight_decay +0\.01 +default$/m);
    const all = await runCli(["config", "explain", "sft", "@", base]);
    expect(all.out).toMatch(/^max_steps +5 +\S+base\.toml:1$/m);
    expect(all.out).not.toContain("weight_decay");
  });

  it("still tells who said what where something is wrong, and refuses what is unknown", async () => {
    const { code, out, err } = await runCli([
      "config",
      "explain",
      "sft",
      "optim.lr",
      "@",
      base,
      "--optim.lr=-1",
    ]);
    expect(code).toBe(2);
    expect(out).toContain(`${base}:5 said 0.001`);
    expect(err).toContain("optim.lr has to be at least 0, not -1 (--optim.lr).");
    expect((await runCli("config explain sft optim.lrr")).err).toContain("[unknown_key]");
  });
});

describe("spotter config diff", () => {
  it("compares two files, two dry runs, or two command lines", async () => {
    const { code, out } = await runCli(["config", "diff", "sft", base, overlay, "--json"]);
    expect(code).toBe(0);
    const { differences } = JSON.parse(out) as { differences: unknown[] };
    expect(differences).toContainEqual({
      path: "optim.lr",
      left: 1e-3,
      right: 1e-4,
      leftFrom: `${base}:5`,
      rightFrom: `${overlay}:2`,
    });
    expect(differences).toContainEqual(
      expect.objectContaining({ path: "optim.mu", left: 0.9, rightFrom: null }),
    );
    const runs = [join(folder, "one"), join(folder, "two")];
    for (const [index, run] of runs.entries())
      await runCli(["sft", "@", base, "--max-steps", `${index + 5}`, "--output-dir", run, "--dry-run"]);
    const shown = (await runCli(["config", "diff", "sft", ...runs])).out;
    expect(shown).toMatch(
      /^max_steps +5 \(\S+one\/configs\/sft\.toml:\d+\) +6 \(\S+two\/configs\/sft\.toml:\d+\)$/m,
    );
    expect(shown).toContain("2 settings differ.");
    const same = await runCli(["config", "diff", "sft", "@", base, "--", "@", base, "--max-steps", "5"]);
    expect(same).toEqual({ code: 0, out: "They are the same.\n", err: "" });
  });

  it("needs two of them, both valid", async () => {
    expect((await runCli(["config", "diff", "sft", base])).code).toBe(2);
    const { code, out } = await runCli(["config", "diff", "sft", base, "none.toml", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ differences: [], findings: [{ file: "none.toml" }] });
  });
});

describe("spotter config", () => {
  it("prints the JSON Schema of an entrypoint", async () => {
    const { out } = await runCli("config schema trainer");
    expect(JSON.parse(out)).toMatchObject({ type: "object", properties: { optim: {} } });
    expect(out).toContain("\n");
  });

  it("names the entrypoints, and explains itself", async () => {
    expect(await runCli("config diff orchestrtor a b")).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean orchestrator?") as string,
    });
    expect((await runCli("config explain")).err).toContain("rl, sft, inference, trainer, orchestrator");
    expect((await runCli("config explain --help")).out).toContain(
      "spotter config explain rl trainer.optim.lr",
    );
    expect((await runCli("config")).code).toBe(2);
  });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
