import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DAEMON_FLAGS, nodeProgram } from "../../../sdk/local/node-program.ts";

describe("nodeProgram", () => {
  const root = mkdtempSync(join(tmpdir(), "spotter-node-"));
  const bin = join(root, "node_modules", "node", "bin");

  it.each(["22.19.0", "22.20.1", "23.0.0", "24.1.0"])("is this process's own under %s", (version) => {
    expect(nodeProgram(version, root)).toBe(process.execPath);
  });

  it("is the one that came along, else an error that says what to do", () => {
    onTestFinished(() => rmSync(root, { recursive: true }));
    expect(() => nodeProgram("20.19.2", root)).toThrow(expect.objectContaining({ code: "node_too_old" }));
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "node"), "");
    expect(nodeProgram("22.18.9", root)).toBe(join(bin, "node"));
  });
});

it("starts a daemon whose young objects have a bound", () => {
  const program = `
    const kept = [];
    for (let i = 0; i < 2e6; i++) kept[i % 1e5] = { i };
    const space = require("v8").getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    console.log(space.space_size);`;
  const { stdout } = spawnSync(process.execPath, [...DAEMON_FLAGS, "-e", program], { encoding: "utf8" });
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThan(64e6);
});
