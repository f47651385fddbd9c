import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

// Inside the repository: what is not bundled is looked for in its node_modules.
const cache = join(import.meta.dirname, "..", "..", ".cache");
mkdirSync(cache, { recursive: true });
const dist = mkdtempSync(join(cache, "bundle-config-"));
afterAll(() => rmSync(dist, { recursive: true }));

describe("the bundled command line", () => {
  it("resolves files of every format, and ends as the unbundled one does", async () => {
    compile();
    const script = new URL("../../scripts/bundle-config.mjs", import.meta.url).href;
    const { bundleConfig } = (await import(script)) as { bundleConfig: (dist: string) => Promise<void> };
    await bundleConfig(dist);
    const files = {
      "a.yaml": "max_steps: 3\n",
      "b.json": '{ "optim": { "lr": 0.5 } }',
      "c.toml": '[wandb]\nname = "x"\n',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dist, name), text);
    const words = Object.keys(files).flatMap((name) => ["@", name]);
    const good = await spotter("sft", ...words, "--output-dir", "out", "--dry-run", "--json");
    expect(good.err).toBe("");
    expect(JSON.parse(good.out)).toMatchObject({
      config: { max_steps: 3, optim: { lr: 0.5 }, wandb: { name: "x" } },
      provenance: { max_steps: "a.yaml:1", "optim.lr": "b.json:1", "wandb.name": "c.toml:2" },
    });
    expect(good.code).toBe(0);
    const bad = await spotter("config", "explain", "sft", "max_steps", "@", "a.yaml", "--max-stps", "3");
    expect(bad).toMatchObject({ code: 2, err: expect.stringContaining("Did you mean max_steps") as string });
  });
});

/** What tsc writes, without asking it. */
function compile(): void {
  const root = join(import.meta.dirname, "..", "..");
  for (const file of globSync("sdk/{cli,config,schema,local}/**/*.ts", { cwd: root })) {
    const out = join(dist, file.replace(/\.ts$/, ".js"));
    const code = stripTypeScriptTypes(readFileSync(join(root, file), "utf8"));
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, code.replaceAll(/((?:from|import)[ (]*"\.[^"]*)\.ts"/g, '$1.js"'));
  }
  writeFileSync(join(dist, "package.json"), '{ "type": "module" }');
}

function spotter(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const bin = join(dist, "sdk", "cli", "bin.js");
    execFile(process.execPath, [bin, ...words], { cwd: dist }, (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
    });
  });
}
