import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it, vi } from "vitest";
import * as z from "zod/mini";
import { jobEventBody } from "../../../../sdk/schema/job.ts";
import { answer } from "../../fake-control-plane.ts";
import { slimeJob, startAgent, type AgentOptions, type AgentRun, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";

// Several agents at a time on a busy machine.
const SLOW = { timeout: 20_000 };
const train = (onEnd: OnEnd, options: AgentOptions = {}): Promise<AgentRun> =>
  startAgent(onEnd, (plane) => slimeJob(plane), options);

describe.runIf(hasPython).concurrent("the agent of a training engine", SLOW, () => {
  it("fetches, trains, tells, and brings the checkpoints home", async ({ expect, onTestFinished }) => {
    // Its weights come a while after Megatron's tracker has moved on.
    const run = await train(onTestFinished, { behaviour: { secondsToSave: 0.2 } });
    expect(await run.ended, run.stderr()).toBe(0);
    const { plane } = run;
    expect([...plane.checkpoints.keys()]).toEqual([2, 4]);
    const saved = plane.checkpoints.get(4);
    expect(saved).toMatchObject({
      complete: true,
      kind: "full",
      metrics: { loss: 0.25, "reward/mean": 0.3 },
    });
    expect([...(saved?.files.keys() ?? [])].sort()).toEqual([
      "model/config.json",
      "model/model-00001-of-00001.safetensors",
      "model/model.safetensors.index.json",
      "trainer/iter_0000003/.metadata",
      "trainer/iter_0000003/__0_0.distcp",
      "trainer/iter_0000003/common.pt",
      "trainer/rollout/global_dataset_state_dict_3.pt",
    ]);
    const metrics = run.told("run").map(({ event }) => event as { type: string; step?: number });
    expect(metrics).toContainEqual({
      type: "metrics",
      step: 1,
      metrics: { loss: 0.25, grad_norm: 1.5, lr: 1e-6 },
    });
    expect(metrics.filter(({ type }) => type === "phase").length).toBeGreaterThan(1);
    expect(run.exit()).toEqual({ type: "exit", outcome: "succeeded" });
    // All of it is what the control plane takes.
    for (const event of plane.events)
      expect(z.safeParse(jobEventBody, event)).toMatchObject({ success: true });
    expect(plane.beats.at(-1)).toMatchObject({ attempt: 1 });
    const yaml = await readFile(join(run.workDir, "config/custom.yaml"), "utf8");
    expect(yaml).toBe(`dataset: ${join(run.workDir, "datasets", "dataset.jsonl")}\n`);
    expect(await readFile(join(run.workDir, "model/model.safetensors"), "utf8")).toBe("weights of the base");
  });

  it("counts rollouts as steps, however many steps of the optimizer each has", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await startAgent(onTestFinished, (plane) => {
      const job = slimeJob(plane) as { native: { argv: string[] } };
      job.native.argv.push("--num-steps-per-rollout", "3");
      return job;
    });
    expect(await run.ended, run.stderr()).toBe(0);
    const losses = run
      .told("run")
      .map(({ event }) => event as { step?: number; metrics?: object })
      .filter(({ metrics }) => "loss" in (metrics ?? {}));
    expect(losses.map(({ step }) => step)).toEqual([1, 2, 3, 4].flatMap((step) => [step, step, step]));
  });

  it("goes on from its checkpoint, at exactly that step", async ({ expect, onTestFinished }) => {
    const first = await train(onTestFinished, { behaviour: { failAt: 4, how: "crash" } });
    expect(await first.ended).toBe(1);
    expect([...first.plane.checkpoints.keys()]).toEqual([2]);
    const stored = first.plane.checkpoints.get(2);
    const second = await train(onTestFinished, {
      before: (plane) => {
        const files = [...(stored?.files ?? [])].map(([path, bytes]) => plane.addFile(path, bytes));
        Object.assign(plane.job ?? {}, {
          resume: { id: "run-1@2", kind: "full", step: 2, model: { name: "made/model" }, files },
        });
      },
    });
    expect(await second.ended, second.stderr()).toBe(0);
    expect([...second.plane.checkpoints.keys()]).toEqual([4]);
    const weights = second.plane.checkpoints.get(4)?.files.get("model/model-00001-of-00001.safetensors");
    // As the uninterrupted run has it: no step was made twice, none was left out.
    expect(weights?.toString()).toBe("weights of the base + a + b + c + a");
  });

  it.for([
    ["gpu-oom", 3, "container_out_of_memory", "CUDA out of memory", [2]],
    ["early", 3, "engine_failed", "after step 2 of 4", [2]],
    ["half", 4, "engine_failed", "exit code 1", [2]],
    // Its state is whole: the weights are made of that.
    ["no-weights", 4, "engine_failed", "exit code 1", [2, 4]],
  ] as const)(
    "keeps what was whole, and says what went wrong: %s at step %i",
    async ([how, failAt, code, words, saved], { expect, onTestFinished }) => {
      const run = await train(onTestFinished, { behaviour: { failAt, how } });
      expect(await run.ended, run.stderr()).toBe(1);
      expect(run.exit()).toMatchObject({ outcome: "failed", failure: { code } });
      expect((run.exit()?.["failure"] as { message: string }).message).toContain(words);
      expect([...run.plane.checkpoints.keys()]).toEqual(saved);
    },
  );

  it("saves when it is asked to stop, and ends what does not listen", async ({ expect, onTestFinished }) => {
    const asked = await train(onTestFinished, { behaviour: { secondsAStep: 0.3 } });
    await vi.waitFor(() => expect(asked.told("run").length).toBeGreaterThan(3), 15_000);
    asked.agent.kill("SIGTERM");
    expect(await asked.ended, asked.stderr()).toBe(0);
    expect(asked.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    expect(asked.plane.checkpoints.size).toBeGreaterThan(0);
    const deaf = await train(onTestFinished, {
      behaviour: { failAt: 3, how: "hang" },
      options: { grace_s: 0.3 },
    });
    await vi.waitFor(() => expect(deaf.plane.checkpoints.get(2)?.complete).toBe(true), 15_000);
    deaf.plane.cancel = true;
    expect(await deaf.ended).toBe(0);
    expect(deaf.exit()).toEqual({ type: "exit", outcome: "cancelled" });
  });

  it("loses and doubles nothing when answers are lost, slow or refused", async ({
    expect,
    onTestFinished,
  }) => {
    let requests = 0;
    const run = await train(onTestFinished, {
      before: (plane) => {
        plane.loseAnswer = () => requests++ % 4 === 1;
        plane.intercept = (_request, response) => {
          if (requests++ % 5 !== 3) return false;
          answer(response, 503, { error: { code: "capacity", kind: "capacity", message: "busy" } });
          return true;
        };
      },
    });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.exit()).toEqual({ type: "exit", outcome: "succeeded" });
    const steps = run
      .told("run")
      .map(({ event }) => event as { type: string; step?: number; metrics?: object })
      .filter(({ type, metrics }) => type === "metrics" && "loss" in (metrics ?? {}));
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  });

  it("exits without a word when a newer attempt owns the work", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, { behaviour: { secondsAStep: 1 } });
    await vi.waitFor(() => expect(run.told("run").length).toBeGreaterThan(2), 15_000);
    run.plane.intercept = (_request, response) => {
      answer(response, 410, { error: { code: "attempt_stale", kind: "system", message: "newer" } });
      return true;
    };
    expect(await run.ended).toBe(3);
    expect(run.exit()).toBeUndefined();
  });

  it("gives up on a control plane that stays away, and leaves no engine behind", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await train(onTestFinished, {
      behaviour: { secondsAStep: 30 },
      options: { give_up_after_s: 0.5 },
    });
    await vi.waitFor(() => expect(run.told("run").length).toBeGreaterThan(2), 15_000);
    run.plane.intercept = (_request, response) => (response.destroy(), true);
    expect(await run.ended).toBe(4);
    expect(run.stderr()).toContain("daemon_unreachable");
    const pid = Number(/stand-in pid (\d+)/.exec(run.stderr())?.[1]);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("changes the image first, and says which command failed", async ({ expect, onTestFinished }) => {
    const told = mkdtempSync("/tmp/spotter-overlay-");
    onTestFinished(() => rmSync(told, { recursive: true }));
    const run = await train(onTestFinished, {
      native: { overlay: [`echo one > ${told}/one`, "echo no && exit 3", "never"] },
      options: { overlay_marks_dir: join(told, "marks") },
    });
    expect(await run.ended).toBe(1);
    expect(await readFile(join(told, "one"), "utf8")).toBe("one\n");
    expect(run.exit()).toMatchObject({
      failure: { code: "invalid_input", where: "imageOverlay[1]", hint: "no" },
    });
  });

  it("shows no secret to anybody", async ({ expect, onTestFinished }) => {
    const run = await train(onTestFinished, {
      native: { env: { TOLD_KEY: "super-secret-value" } },
      job: { secrets: { KEY: "super-secret-value" } },
    });
    expect(await run.ended).toBe(0);
    const everything = JSON.stringify(run.plane.events) + run.stderr();
    expect(everything).toContain("TOLD_KEY");
    expect(everything).not.toContain("super-secret-value");
    expect(everything).not.toContain("job-token");
  });
});
