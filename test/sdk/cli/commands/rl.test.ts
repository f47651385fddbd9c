import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Finding } from "../../../../sdk/config/prime-rl/types.ts";
import { runCli } from "../run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "spotter-rl-"));
afterAll(() => rmSync(folder, { recursive: true }));

const base = file(
  "base.toml",
  `max_steps = 20
seq_len = 2048

[model]
name = "Qwen/Qwen3-0.6B"

[orchestrator]
batch_size = 128
group_size = 16

[[orchestrator.train.env]]
id = "reverse-text"

[trainer.optim]
lr = 3e-6

[inference]
`,
);
const overlay = file("overlay.toml", "max_steps = 30\n");

interface Output {
  config: Record<string, unknown> | null;
  provenance: Record<string, string>;
  findings: Finding[];
}

describe("spotter rl", () => {
  it("resolves files and flags, with where each value comes from", async () => {
    const out = join(folder, "resolve");
    const words = ["rl", "@", base, "@", overlay, "--trainer.optim.lr", "1e-5", "--output-dir", out];
    const { code, config, provenance, findings } = await resolved([...words, "--dry-run"]);
    expect(code).toBe(0);
    expect(findings).toEqual([]);
    expect(config).toMatchObject({ max_steps: 30, trainer: { optim: { lr: 1e-5 }, max_steps: 30 } });
    expect(provenance).toMatchObject({
      max_steps: `${overlay}:1`,
      "trainer.max_steps": `max_steps (${overlay}:1)`,
      "trainer.optim.lr": "--trainer.optim.lr",
      "trainer.optim.weight_decay": "default",
      "orchestrator.train.env.0.id": `${base}:12`,
    });
  });

  it("leaves the four files of a dry run under the output folder, each of which resolves to itself", async () => {
    const out = join(folder, "dry");
    const first = await resolved(["rl", "@", base, "--output-dir", out, "--dry-run"]);
    expect(readdirSync(out)).toEqual(["configs"]);
    const configs = join(out, "configs");
    expect(readdirSync(configs).sort()).toEqual([
      "inference.toml",
      "orchestrator.toml",
      "rl.toml",
      "trainer.toml",
    ]);
    const again = await resolved(["rl", "@", join(configs, "rl.toml"), "--dry-run"]);
    expect(again.config).toEqual(first.config);
    for (const part of ["trainer", "orchestrator", "inference"]) {
      const to = join(folder, part);
      const alone = await resolved([
        part,
        "@",
        join(configs, `${part}.toml`),
        "--dry-run",
        "--output-dir",
        to,
      ]);
      const whole = first.config?.[part] as Record<string, unknown>;
      expect(alone.findings, part).toEqual([]);
      expect({ ...alone.config, ...flagsOf(whole) }, part).toEqual(whole);
      expect(readFileSync(join(to, "configs", `${part}.toml`), "utf8")).toContain("output_dir");
    }
  });

  it("deletes nothing, and says what an earlier dry run left", async () => {
    const out = join(folder, "stale");
    mkdirSync(join(out, "checkpoints"), { recursive: true });
    writeFileSync(join(out, "checkpoints", "kept"), "");
    const words = ["rl", "@", base, "--output-dir", out, "--clean-output-dir", "--dry-run"];
    await resolved(words);
    const { code, findings } = await resolved([...words, "--no-inference"]);
    expect(code).toBe(0);
    expect(findings).toMatchObject([{ severity: "warning", path: "inference" }]);
    expect(readdirSync(join(out, "configs"))).toHaveLength(4);
    expect(readdirSync(join(out, "checkpoints"))).toEqual(["kept"]);
  });

  it("says where it cannot write", async () => {
    // The second has no room for folders, and Linux says so in an unusual way.
    for (const out of [base, "/proc/spotter"]) {
      const { code, err } = await runCli(["rl", "@", base, "--output-dir", out, "--dry-run"]);
      expect(code).toBe(2);
      expect(err).toContain(`The dry run cannot write under ${out}/configs`);
    }
  });

  it("tells all that is wrong at once, with the place, and writes nothing", async () => {
    const out = join(folder, "wrong");
    const bad = file(
      "bad.toml",
      '[model]\nname = 7\n[trainer.model]\nsq_len = 3\n[trainer.optim]\nlr = "fast"\n',
    );
    const words = ["rl", "@", base, "@", bad, "--trainr.optim.lr", "1", "--output-dir", out, "--dry-run"];
    const { code, config, findings } = await resolved(words);
    expect(code).toBe(2);
    expect(config).toBeNull();
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: "model.name", file: bad, line: 2, column: 1 }),
        expect.objectContaining({ path: "trainer.optim.lr", file: bad, line: 6, code: "invalid_input" }),
        expect.objectContaining({
          path: "trainer.model.sq_len",
          line: 4,
          code: "unknown_key",
          hint: expect.stringContaining("trainer.model.seq_len") as string,
        }),
        expect.objectContaining({ path: "trainr", code: "unknown_key", file: null }),
      ]),
    );
    expect(readdirSync(folder)).not.toContain("wrong");
    const shown = await runCli(words);
    expect(shown.code).toBe(2);
    expect(shown.err).toContain(`${bad}:4:1 error There is no setting trainer.model.sq_len. [unknown_key]`);
    expect(shown.err).toContain("(--trainr.optim.lr)");
  });

  it("shows a person what was said, by whom, and what was written", async () => {
    const out = join(folder, "person");
    const { code, out: text } = await runCli(["rl", "@", base, "--output-dir", out, "--dry-run"]);
    expect(code).toBe(0);
    expect(text).toMatch(/^trainer\.optim\.lr +0\.000003 +\S+base\.toml:15$/m);
    expect(text).toContain("settings with their defaults");
    expect(text).toContain(`Wrote ${join(out, "configs", "rl.toml")}`);
  });

  it("takes --dry-run where the schema has no such setting", async () => {
    const out = join(folder, "alone");
    const { code, config } = await resolved(["trainer", "--output-dir", out, "--dry-run"]);
    expect(code).toBe(0);
    expect(config).not.toHaveProperty("dry_run");
    expect(readdirSync(join(out, "configs"))).toEqual(["trainer.toml"]);
  });

  it("explains every setting, or those of one section", async () => {
    const all = await runCli("rl --help");
    expect(all.code).toBe(0);
    expect(all.out).toContain("--orchestrator.train.env.N.ratio NUMBER");
    const one = await runCli("rl --help trainer.optim");
    expect(one.out).toMatch(/^trainer\.optim, type = muon\n {2}--trainer\.optim\.mu NUMBER/m);
    expect(one.out).not.toContain("--trainer.model.name");
    expect((await runCli("help rl")).out).toBe(all.out);
    expect((await runCli("rl --help orchestrator.train.env.0.ratio")).out).toMatch(
      /^orchestrator\.train\.env\.N .*\n {2}--orchestrator\.train\.env\.N\.ratio NUMBER .*\n(?! {2}--)/,
    );
    expect((await runCli("rl --help trainer.optm")).err).toContain("Did you mean trainer.optim?");
    expect(JSON.parse((await runCli("sft --help --json")).out)).toMatchObject({ type: "object" });
  });

  it("never pretends to start what it cannot: a part alone has nowhere to run here", async () => {
    const { code, out } = await runCli("trainer --json");
    expect(code).toBe(2);
    expect(out).toMatch(/"code":"\w+"/);
  });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function resolved(words: string[]): Promise<Output & { code: number }> {
  const { code, out } = await runCli([...words, "--json"]);
  return { code, ...(JSON.parse(out) as Output) };
}

/** What the test itself says by flags when it resolves a part. */
function flagsOf({ output_dir, dry_run }: Record<string, unknown>): Record<string, unknown> {
  return { output_dir, ...(dry_run !== undefined && { dry_run }) };
}
