import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { hasPython } from "../engine/python/spotter_agent/has-python.ts";
import { slimeJob, startAgent } from "../engine/python/spotter_agent/agent.ts";

const AWAY_MS = 150_000;

/** The steps whose loss came, in the order in which it came. */
function stepsOf(run: Awaited<ReturnType<typeof startAgent>>): (number | undefined)[] {
  const told = run.told("run").map(({ event }) => event as { step?: number; metrics?: object });
  return told.filter(({ metrics = {} }) => "loss" in metrics).map(({ step }) => step);
}

describe.runIf(hasPython)("the agent of a training, in real time", () => {
  it("loses nothing while the control plane is away for minutes", async () => {
    // Waiting times as they are out there.
    const run = await startAgent(onTestFinished, (plane) => slimeJob(plane, 6), {
      behaviour: { secondsAStep: 2 },
      options: { speed: 1, poll_s: 2 },
    });
    await vi.waitFor(() => expect(stepsOf(run)).toContain(1), 20_000);
    run.plane.intercept = (_request, response) => (response.destroy(), true);
    await delay(AWAY_MS);
    expect(run.stderr()).toContain("step 5: {");
    run.plane.intercept = () => false;
    expect(await run.ended, run.stderr().slice(-2_000)).toBe(0);
    expect(stepsOf(run)).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4, 6]);
    expect(run.exit()).toEqual({ type: "exit", outcome: "succeeded" });
  });

  it("reads past a line of 100 MB, in little memory", async () => {
    const run = await startAgent(onTestFinished, (plane) => slimeJob(plane, 4), {
      behaviour: { failAt: 2, how: "long-line", megabytes: 100, secondsAStep: 1 },
    });
    let peakKib = 0;
    const watch = setInterval(() => {
      const status = spawnSync("ps", ["-o", "rss=", "-p", String(run.agent.pid)], { encoding: "utf8" });
      peakKib = Math.max(peakKib, Number(status.stdout));
    }, 50);
    onTestFinished(() => clearInterval(watch));
    expect(await run.ended, run.stderr().slice(-2_000)).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    expect(peakKib).toBeGreaterThan(0);
    expect(peakKib).toBeLessThan(100 * 1024);
  });
});
