import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bytesUnder, readConfigFile } from "../../../../sdk/config/prime-rl/files.ts";
import { originAt } from "../../../../sdk/config/prime-rl/provenance.ts";
import type { Path } from "../../../../sdk/config/prime-rl/types.ts";

const TOML = `max_steps = 20
trainer.optim = { lr = 1e-5, "max norm" = 1 }
[model]
name = "m"
[[orchestrator.train.env]]
id = "a"
[orchestrator.train.env.args]
levels = [1, 2]
[[orchestrator.train.env]]
id = "b"
`;
const JSON_TEXT = `{
  "model": { "name": "m" },
  "envs": [{ "id": "a" },
    { "id": "b", "args": null }]
}`;
const YAML = `# comment
model: &m
  name: m
envs:
  - id: a
  - id: b
    args: ~
again: *m
`;

describe("reading a configuration file", () => {
  it("keeps the place of every value: TOML", async () => {
    const { value, placeOf } = await read("x.toml", TOML);
    expect(value).toEqual({
      max_steps: 20,
      trainer: { optim: { lr: 1e-5, "max norm": 1 } },
      model: { name: "m" },
      orchestrator: { train: { env: [{ id: "a", args: { levels: [1, 2] } }, { id: "b" }] } },
    });
    expect(placeOf(["max_steps"])).toBe("1:1");
    expect(placeOf(["trainer", "optim", "max norm"])).toBe("2:30");
    expect(placeOf(["model"])).toBe("3:2");
    expect(placeOf(["orchestrator", "train", "env", 0, "args", "levels", 1])).toBe("8:14");
    expect(placeOf(["orchestrator", "train", "env", 1, "id"])).toBe("10:1");
  });

  it("keeps the place of every value: JSON", async () => {
    const { value, placeOf } = await read("x.json", `\uFEFF${JSON_TEXT}`);
    expect(value).toEqual({ model: { name: "m" }, envs: [{ id: "a" }, { id: "b", args: null }] });
    expect(placeOf(["model", "name"])).toBe("2:14");
    expect(placeOf(["envs", 1, "args"])).toBe("4:18");
  });

  it("keeps the place of every value: YAML", async () => {
    const { value, placeOf } = await read("x.yml", YAML);
    expect(value).toEqual({
      model: { name: "m" },
      envs: [{ id: "a" }, { id: "b", args: null }],
      again: { name: "m" },
    });
    expect(placeOf(["envs", 1, "args"])).toBe("7:5");
    expect((await read("empty.yaml", "\n# nothing\n")).value).toEqual({});
  });

  it.each([
    ["a.toml", "a = 1\nb = yes\n", 2, 5, "is not TOML"],
    ["a.toml", "a = 1\na = 2\n", 2, 1, "is not TOML"],
    ["a.toml", "when = 2026-11-30\n", 1, 8, "is a date"],
    ["a.toml", "a = 123456789012345678901\n", 1, 5, "is too large"],
    ["a.toml", "a = inf\n", 1, 5, "is not finite"],
    ["a.toml", "[__proto__]\nx = 1\n", 1, 2, "is no name"],
    ["a.json", '{\n  "a": 1,\n}', 3, 1, "is not JSON"],
    ["a.json", '{ "a": 1, "a": 2 }', 1, 11, "stands here twice"],
    ["a.json", '{ "a": 1e999 }', 1, 8, "too large"],
    ["a.yaml", "a: 1\n b: 2\n", 1, 4, "is not YAML"],
    ["a.yaml", "a: 1\na: 2\n", 2, 1, "is not YAML"],
    ["a.yaml", "a: .inf\n", 1, 4, "finite number"],
    ["a.yaml", "a: &x\n  - *x\n", null, null, "nested too deeply"],
    ["a.yaml", "a: 1\n---\nb: 1\n", 2, 1, "holds several documents"],
    ["a.ini", "", null, null, "no known format"],
    ["a", "", null, null, "no known format"],
  ])("says what is wrong, and where: %s %j", async (name, text, line, column, message) => {
    const result = await readConfigFile(name, () => Buffer.from(text));
    expect(result).toMatchObject({
      finding: { code: "invalid_input", severity: "error", file: name, line, column },
    });
    expect("finding" in result && result.finding.message).toContain(message);
    expect("finding" in result && result.finding.hint).not.toBe("");
  });

  it("takes names that every object has for names: TOML", async () => {
    const { value } = await read("x.toml", "[constructor]\nx = 1\n[trainer]\ntoString.y = 2\n");
    expect(value).toEqual({ constructor: { x: 1 }, trainer: { toString: { y: 2 } } });
  });

  it("reads nothing that may never end, and no more than a configuration may hold", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spotter-files-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync("/dev/zero", join(folder, "zero.toml"));
    symlinkSync("loop.toml", join(folder, "loop.toml"));
    writeFileSync(join(folder, "huge.toml"), "");
    truncateSync(join(folder, "huge.toml"), 2 ** 40);
    const findings = ["zero.toml", "loop.toml", "huge.toml"].map((file) =>
      readConfigFile(file, bytesUnder(folder)),
    );
    expect(await Promise.all(findings)).toMatchObject([
      { finding: { message: "zero.toml is no regular file." } },
      { finding: { message: "loop.toml is a link that leads nowhere." } },
      { finding: { message: "huge.toml is larger than 16 MiB." } },
    ]);
  });

  it("says what is wrong with files that are no text, or not there", async () => {
    const messageOf = async (file: string, bytes: () => Uint8Array) => {
      const result = await readConfigFile(file, bytes);
      return "finding" in result ? result.finding.message : "";
    };
    const disk = bytesUnder(import.meta.dirname);
    expect(await messageOf("none.toml", () => disk("none.toml"))).toBe("There is no file none.toml.");
    expect(await messageOf("x.toml", () => disk("."))).toBe("x.toml is a folder.");
    expect(await messageOf("x.toml", () => Uint8Array.of(0x61, 0xff))).toBe("x.toml is not UTF-8 text.");
    expect(await messageOf("x.json", () => Buffer.from("[".repeat(100_000)))).toMatch(
      /nested too deeply|is not JSON/,
    );
    expect(await messageOf("x.toml", () => Buffer.from(`a = ${"[".repeat(100_000)}`))).toMatch(
      /nested too deeply|is not TOML/,
    );
  });
});

async function read(
  file: string,
  text: string,
): Promise<{ value: unknown; placeOf: (path: Path) => string }> {
  const result = await readConfigFile(file, () => Buffer.from(text));
  if ("finding" in result) throw new Error(result.finding.message);
  const { value, origins } = result.tree;
  return {
    value,
    placeOf: (path) => {
      const origin = originAt(origins, path);
      expect(origin).toMatchObject({ kind: "file", file });
      return `${origin?.line}:${origin?.column}`;
    },
  };
}
