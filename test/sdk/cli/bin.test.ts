import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

/** Tells the process it runs under Node 20. */
const OLD_NODE = `data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "20.19.2" } })`;

/** The bin as it is installed: compiled, in dist/sdk/cli, beside a main that says what it got. */
function installed(): string {
  const root = mkdtempSync(join(tmpdir(), "spotter-bin-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const bin = join(root, "dist", "sdk", "cli", "bin.js");
  mkdirSync(dirname(bin), { recursive: true });
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  const source = readFileSync("sdk/cli/bin.ts", "utf8");
  writeFileSync(bin, stripTypeScriptTypes(source).replaceAll(/"(\.\/\w+)\.ts"/g, '"$1.js"'));
  const warnings = readFileSync("sdk/cli/warnings.ts", "utf8");
  writeFileSync(join(dirname(bin), "warnings.js"), stripTypeScriptTypes(warnings));
  writeFileSync(
    join(dirname(bin), "main.js"),
    'export async function main(args) { process.stdout.write(`main ${args.join(" ")}\\n`); return 7; }',
  );
  return bin;
}

function run(args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
    });
  });
}

describe("the bin", () => {
  it("runs the command line and exits as it says", async () => {
    expect(await run([installed(), "run", "list"])).toEqual({ code: 7, out: "main run list\n", err: "" });
  });

  it("ends quietly when nobody reads on", async () => {
    const bin = installed();
    writeFileSync(
      join(dirname(bin), "main.js"),
      `export async function main() {
        for (let line = 0; line < 100_000; line++) if (!process.stdout.write("a line of some length\\n")) await new Promise((go) => process.stdout.once("drain", go));
        return 7;
      }`,
    );
    const child = spawn(process.execPath, [bin], { stdio: ["ignore", "pipe", "pipe"] });
    let err = "";
    child.stderr.on("data", (text) => (err += String(text)));
    child.stdout.once("data", () => child.stdout.destroy());
    const [code] = (await once(child, "close")) as [number | null];
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  it("goes on under the Node that came along where the machine's is too old", async () => {
    const bin = installed();
    const node = join(dirname(bin), "..", "..", "..", "node_modules", "node", "bin", "node");
    mkdirSync(dirname(node), { recursive: true });
    writeFileSync(node, '#!/bin/sh\nshift\necho "newer node: $@"\nexit 3\n');
    chmodSync(node, 0o755);
    const result = await run(["--import", OLD_NODE, bin, "run", "list"]);
    expect(result).toEqual({ code: 3, out: "newer node: run list\n", err: "" });
  });

  it("says what to install where there is none", async () => {
    const { code, err } = await run(["--import", OLD_NODE, installed(), "run", "list"]);
    expect(code).toBe(2);
    expect(err).toContain("spotter needs Node 22.19 or newer; this is 20.19.2.");
    expect(err).toContain("npm install node@24");
  });
});
