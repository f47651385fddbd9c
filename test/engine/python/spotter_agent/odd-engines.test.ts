import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it, vi } from "vitest";
import { slimeJob, startAgent, vllmJob, type AgentOptions, type AgentRun, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";
import { runPython } from "./run-python.ts";

const SLOW = { timeout: 20_000 };
const train = (onEnd: OnEnd, options: AgentOptions = {}): Promise<AgentRun> =>
  startAgent(onEnd, (plane) => slimeJob(plane), options);

describe.runIf(hasPython).concurrent("the agent of an engine that is odd", SLOW, () => {
  it("reads on whatever is printed, and believes only what slime's own logger says of its own steps", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await train(onTestFinished, { behaviour: { failAt: 3, how: "garbage" } });
    expect(await run.ended, run.stderr()).toBe(0);
    const told = run
      .told("run")
      .map(({ event }) => event as { type: string; step?: number; metrics?: object });
    expect(JSON.stringify(told)).not.toContain('"loss":7');
    const steps = told.filter(({ metrics = {} }) => "loss" in metrics).map(({ step }) => step);
    expect(steps).toEqual([1, 2, 3, 4]);
    expect(run.plane.beats.every(({ step = 0 }) => step <= 4)).toBe(true);
  });

  it("reads on when a line was too much for its reader: the engine would wait for ever", async ({
    expect,
    onTestFinished,
  }) => {
    const program = `
import os
from pathlib import Path
from spotter_agent.engine_process import EngineProcess
def odd(line): raise ValueError(line)
argv = ["python3", "-c", "for _ in range(2_000): print('y' * 1_000)"]
engine = EngineProcess(argv, dict(os.environ), Path("."), odd)
print(engine.wait(15), engine.drain(), len(engine.tail()))
engine.close()
`;
    expect(await runPython(program, {}, onTestFinished)).toEqual(["0 None 200"]);
  });

  it("cuts lines that never end, and loses nothing that comes after them", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await train(onTestFinished, { behaviour: { failAt: 2, how: "long-line", megabytes: 20 } });
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    const lines = run.told("log").map(({ message }) => String(message));
    expect(lines.filter((line) => line.startsWith("xxx"))).toHaveLength(1);
    expect(JSON.stringify(run.plane.events).length).toBeLessThan(100_000);
  });

  it("refuses a checkpoint with a link that leads out of it", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, { behaviour: { failAt: 2, how: "link" } });
    expect(await run.ended).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { code: "engine_failed", where: "tokenizer.json" } });
    expect(run.plane.checkpoints.size).toBe(0);
  });

  it("stores no step that the run has not", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, { behaviour: { failAt: 2, how: "beyond", secondsAStep: 0.2 } });
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
  });

  it("says what a setting names that is not there, and starts nothing with options that are none", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await train(onTestFinished, { native: { env: { TOLD: "{{spotter.nowhere}}" } } });
    expect(await run.ended).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { code: "invalid_input", where: "native" } });
    const odd = await train(onTestFinished, { env: { SPOTTER_AGENT_OPTIONS: '{"pol_s": 1}' } });
    expect(await odd.ended).toBe(1);
    expect(odd.stderr()).toMatch(/^SPOTTER_AGENT_OPTIONS: .*pol_s/);
  });

  it("waits for what is still being written", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, { behaviour: { secondsToSave: 0.4 }, options: { poll_s: 0.02 } });
    expect(await run.ended, run.stderr()).toBe(0);
    // Megatron's part of a checkpoint is there long before the rest of it.
    expect(run.plane.checkpoints.get(2)?.files.size).toBe(7);
    expect(run.plane.checkpoints.get(4)?.files.size).toBe(7);
    expect(run.plane.requests.filter(({ path }) => path.endsWith("/complete"))).toHaveLength(2);
  });

  it("keeps on its disk no checkpoint that is stored, but the newest", async ({ expect, onTestFinished }) => {
    const run = await startAgent(onTestFinished, (plane) => slimeJob(plane, 6), {
      behaviour: { secondsAStep: 0.25 },
    });
    await vi.waitFor(() => expect(run.plane.checkpoints.get(4)?.complete).toBe(true), 10_000);
    await vi.waitFor(
      () => expect(readdirSync(join(run.workDir, "save"))).not.toContain("iter_0000001"),
      5_000,
    );
    expect(readdirSync(join(run.workDir, "save"))).toContain("iter_0000003");
    expect(readdirSync(join(run.workDir, "save/hf"))).toEqual(["3"]);
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4, 6]);
  });

  it("names no secret in what it says of a failure, not even half of one", async ({
    expect,
    onTestFinished,
  }) => {
    const secret = "s3cr3t-".repeat(20);
    const run = await startAgent(
      onTestFinished,
      (plane) => ({
        ...vllmJob(plane),
        native: {
          engine: "vllm",
          argv: ["python3", "-c", `print("x" * 7900 + "${secret}"); raise ValueError("${secret}")`],
        },
      }),
      { job: { secrets: { KEY: secret } } },
    );
    expect(await run.ended).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { message: expect.stringContaining("[secret]") as string } });
    expect(JSON.stringify(run.plane.events)).not.toContain("s3cr3t");
  });
});
