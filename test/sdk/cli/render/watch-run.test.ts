import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Run } from "../../../../sdk/run.ts";
import { watchRun } from "../../../../sdk/cli/render/watch-run.ts";
import { fakeServer } from "../../fake-server.ts";
import { runDetailOf } from "../../records.ts";

const events = [
  { type: "state", state: "running" },
  { type: "phase", phase: "train" },
  ...Array.from({ length: 100 }, (_, index) => ({
    type: "metrics",
    step: index + 1,
    metrics: { "reward/mean": -1 },
  })),
  { type: "log", level: "warn", message: "careful" },
  { type: "state", state: "succeeded" },
].map((body, index) => ({ seq: index + 1, atMs: index * 100, body }));

async function watch(isTerminal: boolean): Promise<string> {
  const { client } = await fakeServer({ "GET /runs/run1/events": () => ({ events, next: 200, done: true }) });
  const out = Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 120 });
  await watchRun(new Run(client, runDetailOf({ steps: 100 })), { out, isTerminal });
  return String(out.read() as Buffer);
}

describe("watchRun", () => {
  it("writes plain lines at every tenth where nothing can be redrawn", async () => {
    const lines = (await watch(false)).trim().split("\n");
    expect(lines.length).toBeLessThan(20);
    expect(lines[0]).toBe("step 0/100  running");
    expect(lines).toContain("warn: careful");
    expect(lines.at(-1)).toBe("step 100/100  succeeded  reward -1.00");
    expect(lines.filter((line) => line.includes("left")).length).toBeGreaterThan(5);
  });

  it("redraws a bar on a terminal and gives the cursor back", async () => {
    const text = await watch(true);
    expect(text).toContain("100/100  ");
    expect(text).toContain("careful");
    expect(text.lastIndexOf("\x1b[?25h")).toBeGreaterThan(text.lastIndexOf("\x1b[?25l"));
  });
});
