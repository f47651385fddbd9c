import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { agentFiles } from "../../../infra/bundle/agent-archive.ts";
import { engineFiles } from "../../../infra/bundle/engine-archive.ts";
import { programFile } from "../../../infra/bundle/program-file.ts";
import { archive } from "../../../infra/bundle/tar.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const folder = mkdtempSync(join(tmpdir(), "spotter-archive-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function unpacked(bytes: Uint8Array): string {
  const into = mkdtempSync(join(folder, "unpacked-"));
  writeFileSync(join(into, "it.tar.gz"), bytes);
  execFileSync("tar", ["-xzf", "it.tar.gz"], { cwd: into });
  return into;
}

describe("an archive", () => {
  const long = `node_modules/${"a-long-name/".repeat(12)}index.js`;
  const files = [
    { path: "run.sh", content: Buffer.from("echo\n"), isExecutable: true },
    { path: long, content: Buffer.from("export {};\n") },
    { path: "empty", content: Buffer.alloc(0) },
    { path: "a/block", content: Buffer.alloc(512, 7) },
    { path: "Grüße.txt", content: Buffer.from("Grüße") },
  ];

  it("is what tar unpacks, with long names and those of other alphabets", () => {
    const into = unpacked(archive(files));
    for (const { path, content } of files) expect(readFileSync(join(into, path)), path).toEqual(content);
    expect(statSync(join(into, "run.sh")).mode & 0o777).toBe(0o755);
    expect(statSync(join(into, "empty")).mode & 0o777).toBe(0o644);
  });

  it("is the same for the same files, in whatever order they come", () => {
    expect(archive([...files].reverse())).toEqual(archive(files));
  });
});

describe("a program's file", () => {
  const files = [{ path: "index.mjs", content: Buffer.from("1") }];

  it("is packed once, named by what is in it, and goes when there is a newer one", () => {
    const first = programFile("gateway", files, folder);
    const atMs = statSync(first.path).mtimeMs;
    expect(programFile("gateway", files, folder)).toEqual(first);
    expect(statSync(first.path).mtimeMs).toBe(atMs);
    expect(first.sha256).toMatch(/^[0-9a-f]{64}$/);
    const other = programFile("gateway", [{ path: "index.mjs", content: Buffer.from("2") }], folder);
    expect(other.path).not.toBe(first.path);
    programFile("engine", files, folder);
    const kept = readdirSync(folder).filter((name) => name.endsWith(".tar.gz"));
    expect(kept.map((name) => name.split("-")[0]).sort()).toEqual(["engine", "gateway"]);
  });
});

describe("the agent beside engines for GPUs", () => {
  const files = agentFiles();

  it.skipIf(!hasPython)("starts where nothing else is, and says what a container needs", () => {
    const into = unpacked(archive(files));
    const { status, stderr } = spawnSync("python3", ["-m", "spotter_agent"], {
      cwd: into,
      env: { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1" },
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining("SPOTTER_URL")]);
  });

  it("has the plug-ins of slime and vLLM, and nothing that Python left behind", () => {
    const paths = files.map(({ path }) => path);
    for (const each of [
      "spotter_slime/__init__.py",
      "spotter_vllm-1.dist-info/entry_points.txt",
      "user_code.py",
    ])
      expect(paths).toContain(each);
    expect(paths.filter((path) => /__pycache__|\.pyc$/.test(path))).toEqual([]);
  });
});

describe("the engine", () => {
  // Without the native library, which is most of it and the same bytes as in its package.
  const files = engineFiles("x64").filter(({ path }) => !path.endsWith("libonnxruntime.so.1"));
  const paths = files.map(({ path }) => path);

  it("starts where nothing else is, and says what a container needs", () => {
    const into = unpacked(archive(files));
    // It ends with an error, as nothing tells it what to do.
    const { status, stderr } = spawnSync(process.execPath, ["dist/engine/serve.js"], {
      cwd: into,
      env: {},
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining("SPOTTER_URL is not set")]);
  }, 20_000);

  it("has the shipped model, its packages and theirs, for one processor", () => {
    expect(paths).toEqual(
      expect.arrayContaining(["package.json", "dist/engine/train.js", "dist/engine/eval.js"]),
    );
    for (const used of ["zod", "hono", "onnxruntime-node", "onnxruntime-common", "@huggingface/tokenizers"])
      expect(paths, used).toContain(`node_modules/${used}/package.json`);
    expect(paths.some((path) => path.endsWith("models/nano/model.safetensors"))).toBe(true);
    const native = engineFiles("arm64")
      .map(({ path }) => path)
      .filter((path) => path.includes("/napi-v"));
    expect(native.length).toBeGreaterThan(1);
    expect(native.filter((path) => !path.includes("/linux/arm64/"))).toEqual([]);
  });

  it("leaves out the control plane, and what only compilers read", () => {
    expect(paths.filter((path) => /^dist\/(functions|sdk\/cli)/.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.d\.[cm]?ts$|\.map$/.test(path))).toEqual([]);
  });

  it("says what to do where nothing was built", () => {
    expect(() => engineFiles("x64", folder)).toThrow(/npm run build/);
  });
});
