import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, vi } from "vitest";
import {
  slimeJob,
  startAgent,
  type AgentOptions,
  type AgentRun,
  type Behaviour,
  type OnEnd,
} from "./agent.ts";
import { hasPython } from "./has-python.ts";

interface Told {
  step: number;
  metrics: Record<string, number>;
  late?: boolean;
}

/** A training that writes TensorBoard's files, into the folder that the plan names. */
function train(
  onEnd: OnEnd,
  behaviour: Behaviour,
  { words = [], env = {}, ...options }: AgentOptions & { words?: string[] } = {},
): Promise<AgentRun> {
  const make = (plane: Parameters<typeof slimeJob>[0]): Record<string, unknown> => {
    const job = slimeJob(plane) as { native: { argv: string[]; env: object } };
    job.native.argv.push("--use-tensorboard", ...words);
    job.native.env = { ...job.native.env, TENSORBOARD_DIR: "{{spotter.metricsDir}}", ...env };
    return job;
  };
  return startAgent(onEnd, make, { behaviour, ...options });
}

function metricsOf(run: AgentRun): Told[] {
  return run
    .told("run")
    .map(({ event }) => event as { type: string } & Told)
    .filter(({ type }) => type === "metrics");
}

/** Every value that was told under a name, by step. */
function series(run: AgentRun, name: string): [number, number][] {
  return metricsOf(run).flatMap(({ step, metrics }) =>
    metrics[name] === undefined ? [] : [[step, metrics[name]] as [number, number]],
  );
}

describe.runIf(hasPython).concurrent("the metric files of a training", { timeout: 20_000 }, () => {
  it("tell what the lines did not, once, and before the last checkpoint", async ({
    expect,
    onTestFinished,
  }) => {
    // As a writer that is flushed every two minutes.
    const run = await train(onTestFinished, { flushesEvents: "end", secondsAStep: 0.1 });
    expect(await run.ended, run.stderr()).toBe(0);
    const steps = [1, 2, 3, 4];
    expect(series(run, "train/critic-value_loss")).toEqual(steps.map((step) => [step, step - 1]));
    // What the lines have as well is told once.
    expect(series(run, "loss")).toEqual(steps.map((step) => [step, 0.25]));
    expect(series(run, "lr")).toEqual(steps.map((step) => [step, 1e-6]));
    expect(series(run, "reward/mean")).toEqual(steps.map((step) => [step, (step - 1) / 10]));
    expect(series(run, "rollout/odd")).toEqual([]);
    // What they rounded is told again.
    const norms = series(run, "grad_norm");
    expect(norms.map(([step]) => step)).toEqual([...steps, ...steps]);
    expect(norms.slice(4).every(([, norm]) => Math.abs(norm - 1.50001) < 1e-6)).toBe(true);
    // The run does not go back for what comes late.
    const late = metricsOf(run).filter((told) => told.late === true);
    expect([...new Set(late.map(({ step }) => step))]).toEqual([1, 2, 3]);
    expect(run.plane.beats.at(-1)).not.toMatchObject({ step: 1 });
    expect(run.exit()).toEqual({ type: "exit", outcome: "succeeded" });
  });

  it("are with the checkpoint of a step that ends the engine", async ({ expect, onTestFinished }) => {
    const run = await train(
      onTestFinished,
      { flushesEvents: "end", tearsEvents: true },
      // Its checkpoints are not looked for before the engine has ended.
      { options: { poll_s: 30 } },
    );
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.plane.checkpoints.get(4)?.metrics).toMatchObject({ "train/critic-value_loss": 3, loss: 0.25 });
    const warned = run.told("log").filter(({ level }) => level === "warn");
    expect(warned.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^metric file events\.out\.tfevents\..*: its last record is not whole$/),
    ]);
  });

  it("are followed while it trains, also by steps of the optimizer", async ({ expect, onTestFinished }) => {
    const run = await train(
      onTestFinished,
      { flushesEvents: "each", secondsAStep: 0.5 },
      { words: ["--num-steps-per-rollout", "2"] },
    );
    await vi.waitFor(() => expect(series(run, "train/critic-value_loss").length).toBeGreaterThan(1), 15_000);
    expect(run.exit()).toBeUndefined();
    expect(await run.ended, run.stderr()).toBe(0);
    expect(series(run, "train/critic-value_loss")).toEqual(
      [1, 2, 3, 4].flatMap((step) => [
        [step, step - 1],
        [step, step - 1 + 1 / 8],
      ]),
    );
    expect(series(run, "loss").length).toBe(8);
  });

  it("of an engine that died are read as far as they go", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, { flushesEvents: "each", failAt: 4, how: "oom" });
    expect(await run.ended, run.stderr()).toBe(1);
    expect(run.exit()).toMatchObject({ failure: { code: "container_out_of_memory" } });
    expect(series(run, "train/critic-value_loss").map(([step]) => step)).toEqual([1, 2, 3]);
  });

  it("lie where the user says", async ({ expect, onTestFinished }) => {
    const run = await train(
      onTestFinished,
      { flushesEvents: "end" },
      { env: { TENSORBOARD_DIR: "own/./place" } },
    );
    expect(await run.ended, run.stderr()).toBe(0);
    expect((await readdir(join(run.workDir, "own/place"))).length).toBe(1);
    expect(series(run, "train/critic-value_loss").length).toBe(4);
  });

  it("may be lines of JSON by a hook of the user's own", async ({ expect, onTestFinished }) => {
    const write = `mkdir -p metrics && echo '{"rollout/step": 0, "own/score": 0.75}' > metrics/hook.jsonl`;
    const run = await startAgent(onTestFinished, (plane) => {
      const job = slimeJob(plane) as { native: { argv: string[] } };
      const argv = job.native.argv.map((word) => `'${word}'`).join(" ");
      job.native.argv = ["/bin/sh", "-c", `${write}; exec ${argv}`];
      return job;
    });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(series(run, "own/score")).toEqual([[1, 0.75]]);
  });
});
