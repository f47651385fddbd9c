import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Run } from "../../../../sdk/run.ts";
import { watchRun } from "../../../../sdk/cli/render/watch-run.ts";
import { fakeServer } from "../../fake-server.ts";
import { runDetailOf } from "../../records.ts";

const script = fileURLToPath(new URL("../../../fixtures/sdk/watch.ts", import.meta.url));
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
].map((body, index) => ({ seq: index + 1, atMs: index * 90, body }));

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
    // No stopwatch: an estimate is not known to the millisecond.
    expect(lines.join("\n")).not.toMatch(/\d+ms left/);
  });

  it("redraws a bar on a terminal and gives the cursor back", async () => {
    const text = await watch(true);
    expect(text).toContain("step 100/100  ");
    expect(text).toContain("careful");
    expect(text.lastIndexOf("\x1b[?25h")).toBeGreaterThan(text.lastIndexOf("\x1b[?25l"));
  });

  it("names the run that it waits for, where that is known", async () => {
    const waiting = [{ seq: 1, atMs: 1, body: { type: "state", state: "queued", waitingFor: "capacity" } }];
    const { client } = await fakeServer({
      "GET /runs/run1/events": () => ({ events: waiting, next: 1, done: true }),
    });
    const shown = async (waitsOn?: () => Promise<string | undefined>) => {
      const out = new PassThrough();
      await watchRun(new Run(client, runDetailOf({ steps: 9 })), {
        out,
        isTerminal: false,
        ...(waitsOn && { waitsOn }),
      });
      return String(out.read() as Buffer);
    };
    expect(await shown()).toBe("step 0/9  queued (waiting for capacity)\n");
    expect(await shown(async () => "run-1")).toBe(
      "step 0/9  queued (waits for run-1 to end: one training at a time)\n",
    );
  });

  it("gives the cursor back on Ctrl-C, and ends as if it were not there", async () => {
    const { url } = await fakeServer({
      "GET /runs/run1": () => runDetailOf({ steps: 100 }),
      "GET /runs/run1/events": ({ query }) =>
        query.after === "0" ? { events: events.slice(0, 9), next: 9, done: false } : undefined,
    });
    const child = spawn(process.execPath, ["--no-warnings", script], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, FAKE_URL: url },
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("7/100")) child.kill("SIGINT");
    });
    const [, signal] = (await once(child, "close")) as [number | null, string | null];
    expect(signal).toBe("SIGINT");
    expect(text.lastIndexOf("\x1b[?25h")).toBeGreaterThan(text.lastIndexOf("\x1b[?25l"));
  });
});
