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
          here: { class: "honoured", note: expect.stringMatching(/./) as string },
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
    expect(section.out).toMatch(/^optim\.weight_decay +0\.01 +honoured +default$/m);
    expect(section.out).toMatch(/^optim\.mu +0\.9 +honoured +\S+base\.toml:4$/m);
    const all = await runCli(["config", "explain", "sft", "@", base]);
    expect(all.out).toMatch(/^max_steps +5 +\S+base\.toml:1$/m);
    expect(all.out).not.toContain("weight_decay");
    const idle = await runCli("config explain rl trainer.model.attn");
    expect(idle.out).toContain(
      "  On this machine: changes nothing; there is no GPU to spread over or to save.\n",
    );
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
    expect((await runCli("config explain sft optim.lrr")).err).toContain(
      "Did you mean optim.lr? [unknown_key]",
    );
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

describe("spotter config migrate", () => {
  it("rewrites for the newer version and back, and tells what neither can say, with its code and place", async () => {
    const old = file(
      "old.toml",
      `max_steps = 5
output_dir = "outputs/one"
[wandb]
name = "w"
[inference]
[orchestrator]
batch_size = 8
max_off_policy_steps = 8
model.client.router_url = "http://router"
[[orchestrator.train.env]]
taskset = { id = "reverse-text" }
[trainer]
`,
    );
    const there = await runCli(["config", "migrate", "rl", old, "--to", "head", "--json"]);
    expect(there.code).toBe(0);
    const head = JSON.parse(there.out) as { config: Record<string, unknown>; findings: unknown[] };
    expect(head.config).toMatchObject({ max_steps: 5, monitors: { wandb: { name: "w" } } });
    expect(head.findings).toContainEqual(
      expect.objectContaining({ code: "setting_dropped", severity: "warning", file: old, line: 9 }),
    );
    const text = (await runCli(["config", "migrate", "rl", "@", old, "--to=head"])).out;
    expect(JSON.parse(text)).toEqual(head.config);
    const newer = file("new.json", text);
    const back = await runCli(["config", "migrate", "rl", newer, "--to", "seed"]);
    expect(back.code).toBe(0);
    const again = file("again.toml", back.out);
    const diff = await runCli(["config", "diff", "rl", old, again, "--json"]);
    const { differences } = JSON.parse(diff.out) as { differences: { path: string }[] };
    expect(differences.map(({ path }) => path)).toEqual(["orchestrator.model.client.router_url"]);
  });

  it("says which versions there are, and refuses what is no configuration", async () => {
    expect(await runCli(["config", "migrate", "sft", base])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--to seed") as string,
    });
    expect((await runCli(["config", "migrate", "sft", "--to", "seed"])).code).toBe(2);
    const wrong = file("wrong.json", '{ "max_steps": "many", "qqq": 1 }');
    const { code, out } = await runCli(["config", "migrate", "sft", wrong, "--to", "seed", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      config: null,
      findings: [{ path: "max_steps" }, { path: "qqq" }],
    });
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
