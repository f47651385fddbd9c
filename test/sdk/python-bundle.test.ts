import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packPython } from "../../sdk/python-bundle.ts";
import { pythonSpec, refusePython, splitPython } from "../../sdk/python-params.ts";
import type { PythonBundle } from "../../sdk/schema/user-code.ts";

const folder = mkdtempSync(join(tmpdir(), "spotter-bundle-"));
const at = (name: string) => join(folder, name);

beforeAll(() => {
  mkdirSync(at("parts/deep"), { recursive: true });
  mkdirSync(at("other"));
  writeFileSync(at("rewards.py"), "\uFEFFimport json, helper as h\nfrom parts.one import x\n");
  writeFileSync(at("tools.py"), "def f():\n    from lazy import y\n");
  for (const name of [
    "helper",
    "lazy",
    "unused",
    "parts/__init__",
    "parts/one",
    "parts/deep/two",
    "other/tools",
  ])
    writeFileSync(at(`${name}.py`), `# ${name}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const filesOf = (bytes: unknown) =>
  (JSON.parse(new TextDecoder().decode(bytes as Uint8Array)) as PythonBundle).files;

describe("a bundle of Python", () => {
  it("has the files and the modules beside them that they import, the same every time", () => {
    const parts = { rewards: { file: at("rewards.py") }, tools: { file: at("tools.py") } };
    const { bytes, ref, name, language } = packPython(parts);
    const files = filesOf(bytes);
    expect(Object.keys(files)).toEqual([
      ...["helper.py", "lazy.py", "parts/__init__.py", "parts/deep/two.py", "parts/one.py"],
      ...["rewards.py", "tools.py"],
    ]);
    expect(files["rewards.py"]).toMatch(/^import/);
    expect({ name, language }).toEqual({ name: "rewards.py", language: "python" });
    expect(packPython(parts).ref).toEqual(ref);
  });

  it("has the requirements, where there are some", () => {
    const parts = { rewards: { file: at("rewards.py") } };
    const before = packPython(parts);
    writeFileSync(at("requirements.txt"), "\uFEFFsix==1.17.0\n");
    const { bytes, ref } = packPython(parts);
    rmSync(at("requirements.txt"));
    const read = (each: unknown) => JSON.parse(new TextDecoder().decode(each as Uint8Array)) as PythonBundle;
    expect(read(bytes).requirements).toBe("six==1.17.0\n");
    expect(read(before.bytes)).not.toHaveProperty("requirements");
    expect(ref).not.toEqual(before.ref);
  });

  it("is refused without the file, and for files of two folders", () => {
    expect(() => packPython({ rewards: { file: at("absent.py") } })).toThrow(
      expect.objectContaining({ code: "reward_missing", where: at("absent.py") }) as Error,
    );
    const parts = { rewards: { file: at("rewards.py") }, tools: { file: at("other/tools.py") } };
    expect(() => packPython(parts)).toThrow(expect.objectContaining({ code: "user_code_invalid" }) as Error);
  });
});

describe("rewards and tools of a config", () => {
  it("are Python where the file ends in .py", () => {
    const url = new URL("./tools.py", import.meta.url);
    const split = splitPython({ rewards: "a/rewards.ts", tools: { file: url, timeoutMs: 5 } });
    expect(split).toEqual({ rewards: "a/rewards.ts", python: { tools: { file: url, timeoutMs: 5 } } });
    expect(split.python && pythonSpec(split.python, { sha256: "0" }, ["KEY"])).toEqual({
      code: { sha256: "0", secrets: ["KEY"] },
      tools: { file: "tools.py", timeoutMs: 5 },
    });
    expect(splitPython({ rewards: "rewards.ts" })).toEqual({ rewards: "rewards.ts" });
  });

  it("need a grant for Python only, which the refusal names", () => {
    expect(() => refusePython({ rewards: "rewards.ts", tools: "tools.py" })).toThrow(
      expect.objectContaining({
        code: "python_not_allowed",
        where: "tools",
        hint: expect.stringContaining("allowPython: true") as string,
      }) as Error,
    );
    expect(refusePython({ rewards: "rewards.py", allowPython: true })).toBeUndefined();
    expect(refusePython({ rewards: "rewards.ts" })).toBeUndefined();
  });
});
