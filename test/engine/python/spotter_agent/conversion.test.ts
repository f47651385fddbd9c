import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it, vi } from "vitest";
import { answer, type FakeControlPlane } from "../../fake-control-plane.ts";
import { slimeJob, startAgent, type AgentOptions, type AgentRun, type OnEnd } from "./agent.ts";
import { hasPython } from "./has-python.ts";

const TOOLS = fileURLToPath(new URL("../../../fixtures/engines/tools", import.meta.url));
const SLOW = { timeout: 20_000 };
const conversions = {
  toMegatron: [
    ...["python3", join(TOOLS, "convert_hf_to_torch_dist.py"), "--num-layers", "2"],
    ...["--hf-checkpoint", "{{spotter.weightsDir}}", "--save", "{{spotter.convertedDir}}"],
  ],
  toHf: [
    ...["python3", join(TOOLS, "convert_torch_dist_to_hf.py"), "--input-dir", "{{spotter.iterationDir}}"],
    ...["--output-dir", "{{spotter.hfDir}}", "--origin-hf-dir", "{{spotter.modelDir}}"],
  ],
};

/** A training that begins with converted weights. */
function converting(plane: FakeControlPlane): Record<string, unknown> {
  const job = slimeJob(plane, 2) as { native: { argv: string[] } };
  const at = job.native.argv.indexOf("--ref-load") + 1;
  job.native.argv[at] = "{{spotter.convertedDir}}";
  return { ...job, native: { ...job.native, conversions } };
}

/** The job that comes before it. */
function conversionJob(plane: FakeControlPlane): Record<string, unknown> {
  const { spec, modelFiles, native } = converting(plane) as { spec: { model: object } } & Record<
    string,
    unknown
  >;
  return { kind: "convert", model: spec.model, modelFiles, native };
}

/** One that saves in Megatron's format alone. */
function savingShards(plane: FakeControlPlane): Record<string, unknown> {
  const job = slimeJob(plane, 4) as { native: { argv: string[] } };
  const at = job.native.argv.indexOf("--save-hf");
  job.native.argv.splice(at, 2);
  return { ...job, native: { ...job.native, conversions } };
}

const start = (onEnd: OnEnd, make: typeof converting, options: AgentOptions = {}): Promise<AgentRun> =>
  startAgent(onEnd, make, { ...options, options: { conversion_pause_s: 0.05, ...options.options } });

function refuseToKeep(plane: FakeControlPlane): void {
  plane.intercept = (request, response) => {
    if (!/conversions\/\w+$/.test(request.url ?? "") || request.method !== "POST") return false;
    answer(response, 400, { error: { code: "value_too_large", kind: "system", message: "too many" } });
    return true;
  };
}

const weightsOf = (run: AgentRun, step: number): string | undefined =>
  [...(run.plane.checkpoints.get(step)?.files ?? [])]
    .find(([path]) => path.endsWith(".safetensors"))?.[1]
    .toString();

describe.runIf(hasPython).concurrent("a job that converts to Megatron's format", SLOW, () => {
  it("keeps what trainings of the same model and shape fetch", async ({ expect, onTestFinished }) => {
    const first = await start(onTestFinished, conversionJob);
    expect(await first.ended, first.stderr()).toBe(0);
    expect(first.exit()).toEqual({ type: "exit", outcome: "succeeded" });
    expect(first.told("run")).toEqual([]);
    const [[key, kept] = ["", undefined]] = [...first.plane.conversions];
    expect(kept?.complete).toBe(true);
    expect([...(kept?.files.keys() ?? [])].sort()).toEqual([
      "latest_checkpointed_iteration.txt",
      "release/.metadata",
      "release/__0_0.distcp",
      "release/common.pt",
    ]);
    const keepKnown = (plane: FakeControlPlane) => void (kept && plane.conversions.set(key, kept));
    const second = await start(onTestFinished, converting, { before: keepKnown });
    expect(await second.ended, second.stderr()).toBe(0);
    expect(weightsOf(second, 2)).toBe("weights of the base converted + a + b");
    expect(second.stderr()).not.toContain("converting, attempt");
    // So does a job that comes late: nothing is fetched that nobody needs here.
    const late = await start(onTestFinished, conversionJob, { before: keepKnown });
    expect(await late.ended, late.stderr()).toBe(0);
    expect(late.stderr()).toContain("the model was converted before");
    expect(late.stderr()).not.toContain("converting, attempt");
    // Another shape is another conversion.
    const other = {
      ...conversions,
      toMegatron: [...conversions.toMegatron, "--tensor-model-parallel-size", "2"],
    };
    const third = await start(onTestFinished, conversionJob, {
      before: keepKnown,
      native: { conversions: other },
    });
    expect(await third.ended, third.stderr()).toBe(0);
    expect(third.plane.conversions.size).toBe(2);
  });

  it("fails with what its program said last, once: the control plane tries again", async ({
    expect,
    onTestFinished,
  }) => {
    const killed = await start(onTestFinished, conversionJob, { behaviour: { conversionDies: 9 } });
    expect(await killed.ended).toBe(1);
    expect(killed.exit()).toMatchObject({
      failure: {
        code: "container_out_of_memory",
        logTail: expect.arrayContaining([expect.stringContaining("converting, attempt 1")]) as string[],
      },
    });
    expect(killed.stderr()).not.toContain("attempt 2");
    expect(killed.plane.conversions.size).toBe(0);
    const conversionFails = "AssertionError: World size 16 must be less than or equal to number of layers 2.";
    const never = await start(onTestFinished, conversionJob, { behaviour: { conversionFails } });
    expect(await never.ended).toBe(1);
    expect(never.exit()).toMatchObject({
      failure: { code: "invalid_input", message: expect.stringContaining("World size 16") as string },
    });
  });

  it("fails where what it made cannot be kept, and where there is no program for it", async ({
    expect,
    onTestFinished,
  }) => {
    const unkept = await start(onTestFinished, conversionJob, { before: refuseToKeep });
    expect(await unkept.ended).toBe(1);
    expect(unkept.exit()).toMatchObject({ failure: { code: "value_too_large" } });
    const unknown = { ...conversions, toMegatron: ["/nowhere/python", "convert.py"] };
    const lost = await start(onTestFinished, conversionJob, { native: { conversions: unknown } });
    expect(await lost.ended).toBe(1);
    expect(lost.exit()).toMatchObject({ failure: { code: "engine_failed" } });
  });

  it("ends when it is asked to, and with its agent", async ({ expect, onTestFinished }) => {
    const stopped = await start(onTestFinished, conversionJob, { behaviour: { secondsToConvert: 60 } });
    await vi.waitFor(() => expect(stopped.stderr()).toContain("converting, attempt 1"), 10_000);
    stopped.agent.kill("SIGTERM");
    expect(await stopped.ended, stopped.stderr()).toBe(0);
    expect(stopped.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    expect(stopped.plane.conversions.size).toBe(0);
    const killed = await start(onTestFinished, conversionJob, { behaviour: { secondsToConvert: 60 } });
    await vi.waitFor(() => expect(killed.stderr()).toContain("attempt 1, process"), 10_000);
    killed.agent.kill("SIGKILL");
    await killed.ended;
    expect(killed.exit()).toBeUndefined();
    const pid = Number(/attempt 1, process (\d+)/.exec(killed.stderr())?.[1]);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 5_000);
  });

  it("converts the weights of a checkpoint where the run begins with those", async ({
    expect,
    onTestFinished,
  }) => {
    const run = await start(onTestFinished, (plane) => ({
      ...conversionJob(plane),
      start: {
        ...{ id: "run-0@2", kind: "full", step: 2, model: { name: "made/model" } },
        files: [plane.addFile("model/model.safetensors", "weights of a checkpoint")],
      },
    }));
    expect(await run.ended, run.stderr()).toBe(0);
    const [kept] = [...run.plane.conversions.values()];
    expect(kept?.files.get("release/__0_0.distcp")?.toString()).toBe("weights of a checkpoint converted");
  });
});

describe.runIf(hasPython).concurrent("a training that finds no converted weights", SLOW, () => {
  it("converts them itself, says so, and keeps them", async ({ expect, onTestFinished }) => {
    const run = await start(onTestFinished, converting);
    expect(await run.ended, run.stderr()).toBe(0);
    expect(weightsOf(run, 2)).toBe("weights of the base converted + a + b");
    expect(run.stderr()).toContain("the converted model is not kept any more: it is converted here");
    expect(run.told("run").map(({ event }) => event)).toContainEqual({
      type: "phase",
      phase: "convert-model",
    });
    expect([...run.plane.conversions.values()]).toMatchObject([{ complete: true }]);
  });

  it("that is killed half-way begins again in an empty folder", async ({ expect, onTestFinished }) => {
    const run = await start(onTestFinished, converting, { behaviour: { conversionDies: 2 } });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(weightsOf(run, 2)).toBe("weights of the base converted + a + b");
    expect(run.stderr()).toContain("attempt 2 failed: The engine was killed");
    expect(run.stderr()).toContain("attempt 3 of 3");
  });

  it("fails the run with a code of its own, after three attempts or at once", async ({
    expect,
    onTestFinished,
  }) => {
    const often = await start(onTestFinished, converting, { behaviour: { conversionDies: 9 } });
    expect(await often.ended).toBe(1);
    expect(often.exit()).toMatchObject({ failure: { code: "conversion_failed" } });
    expect(often.plane.conversions.size).toBe(0);
    const conversionFails = "AssertionError: World size 16 must be less than or equal to number of layers 2.";
    const never = await start(onTestFinished, converting, { behaviour: { conversionFails } });
    expect(await never.ended).toBe(1);
    expect(never.exit()).toMatchObject({ failure: { code: "invalid_input" } });
    expect(never.stderr()).not.toContain("attempt 2 of 3");
  });

  it("ends with its agent, and the next attempt of the run makes it anew", async ({
    expect,
    onTestFinished,
  }) => {
    const killed = await start(onTestFinished, converting, { behaviour: { secondsToConvert: 60 } });
    await vi.waitFor(() => expect(killed.stderr()).toContain("converting, attempt 1"), 10_000);
    killed.agent.kill("SIGTERM");
    expect(await killed.ended, killed.stderr()).toBe(0);
    expect(killed.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    expect(killed.plane.conversions.size).toBe(0);
  });

  it("goes on with its own where that cannot be stored", async ({ expect, onTestFinished }) => {
    const run = await start(onTestFinished, converting, { before: refuseToKeep });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.stderr()).toContain("the converted weights could not be kept: ");
  });
});

describe.runIf(hasPython).concurrent("a conversion to Hugging Face's format", SLOW, () => {
  it("makes the weights of each checkpoint beside the training", async ({ expect, onTestFinished }) => {
    const run = await start(onTestFinished, savingShards, { behaviour: { conversionDies: 1 } });
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    expect(weightsOf(run, 2)).toBe("weights of the base + a + b");
    expect(weightsOf(run, 4)).toBe("weights of the base + a + b + c + a");
    expect(run.stderr()).toContain("conversion of checkpoint 2 to Hugging Face's format: attempt 2 of 3");
  });

  it("saves a step whose weights the engine did not get to write", async ({ expect, onTestFinished }) => {
    const behaviour = { failAt: 4, how: "half-weights" };
    const lost = await start(onTestFinished, (plane) => slimeJob(plane, 4), { behaviour });
    expect(await lost.ended).toBe(1);
    expect([...lost.plane.checkpoints.keys()]).toEqual([2]);
    expect(lost.stderr()).toContain("checkpoint 4 has no whole Hugging Face weights and is left out");
    const saved = await start(onTestFinished, (plane) => slimeJob(plane, 4), {
      behaviour,
      native: { conversions },
    });
    expect(await saved.ended).toBe(1);
    expect([...saved.plane.checkpoints.keys()]).toEqual([2, 4]);
    expect(weightsOf(saved, 4)).toBe("weights of the base + a + b + c + a");
    expect(saved.exit()).toMatchObject({ failure: { code: "engine_failed" } });
    expect(readFileSync(join(saved.workDir, "save/hf/conversion-attempts"), "utf8")).toBe("1");
  });
});
