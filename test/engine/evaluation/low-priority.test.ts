import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const module = new URL("../../../engine/evaluation/low-priority.ts", import.meta.url);

it("lets others go first, itself and every thread that it starts later", async () => {
  const script = `
    const { makeWay } = await import(${JSON.stringify(module.href)});
    const { getPriority } = await import("node:os");
    await makeWay();
    console.log(getPriority());
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
  expect(Number(stdout)).toBe(10);
});
