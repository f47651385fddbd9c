import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { Endpoint } from "../../sdk/index.ts";
import { blocksOf, root } from "../docs/snippets.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

const fromSource = new URL("../fixtures/sdk/from-source.ts", import.meta.url).href;
const blocks = blocksOf("README.md");

describe("README.md", () => {
  ownHome();

  it("has a first script that runs, and runs again", async () => {
    const folder = project();
    cpSync(join(root, "examples/first-run"), folder, { recursive: true });
    const script = join(folder, "run.ts");
    // One small step instead of thirty: it must run, not learn.
    const text = readFileSync(script, "utf8");
    expect(text).toContain("steps: 30, promptsPerStep: 16");
    writeFileSync(script, text.replace("steps: 30, promptsPerStep: 16", "steps: 1, promptsPerStep: 2"));
    // What an earlier run of it has left.
    await Endpoint.launch("spotter/nano", { name: "trained" });
    const out = await runScript(script);
    expect(out).toMatch(/\nstep 1\/1 {2}succeeded/);
    expect(out.split("\n").length).toBeGreaterThan(5);
    const trained = await Endpoint.get("trained");
    expect(trained.record.checkpoint).toMatch(/@1$/);
    await trained.stop();
  });

  it("has commands that run in their order, and snippets of three stock clients that get answers", async () => {
    const lines = shellOf("npx spotter endpoint launch").split("\n");
    for (const line of lines.filter((each) => !each.includes("spotter down"))) {
      const command = line.replace(/\s+#.*$/, "");
      const { code, err } = await runCli(wordsOf(command.replace("open", "open --no-browser")));
      expect({ command, code }, err).toEqual({ command, code: 0 });
    }

    const [, create = ""] = /SPOTTER_KEY=\$\((.*)\)/.exec(shellOf("export SPOTTER_KEY")) ?? [];
    const { out: key } = await runCli(wordsOf(create));
    const { url } = await Endpoint.get("haiku");
    const clients = blocks.filter(({ code }) => code.includes('"http://127.0.0.1:7717/v1"'));
    expect(clients).toHaveLength(3);
    const folder = project();
    const answers = await Promise.all(
      clients.map(({ code }, index) => {
        const script = join(folder, `client-${index}.ts`);
        writeFileSync(script, code.replace("http://127.0.0.1:7717/v1", url));
        return runScript(script, { SPOTTER_KEY: key.trim() });
      }),
    );
    // A haiku of a few words each.
    for (const answer of answers) expect(answer).toMatch(/\w+ \w+/);

    const down = await runCli(
      wordsOf(lines.find((line) => line.includes("spotter down"))?.split("#")[0] ?? ""),
    );
    expect(down).toMatchObject({ code: 0, err: "" });
  });
});

/** A folder that finds the packages of this repository, as a project finds its own. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

async function runScript(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const args = ["--no-warnings", "--import", fromSource, script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return stdout;
}

function shellOf(text: string): string {
  return blocks.find(({ language, code }) => language === "sh" && code.includes(text))?.code ?? "";
}

/** The words behind `npx spotter`; the README quotes with double quotes only. */
function wordsOf(command: string): string[] {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  return words.slice(2);
}
