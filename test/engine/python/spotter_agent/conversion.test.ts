import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it, vi } from "vitest";
import { answer, type FakeControlPlane } from "../../fake-control-plane.ts";
import { slimeJob, startAgent, type AgentRun } from "./agent.ts";
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

function refuseToKeep(plane: FakeControlPlane): void {
  plane.intercept = (request, response) => {
    if (!/conversions\/\w+$/.test(request.url ?? "") || request.method !== "POST") return false;
    answer(response, 400, { error: { code: "value_too_large", kind: "system", message: "too many" } });
    return true;
  };
}

const partsOf = (run: AgentRun, step: number): Set<string | undefined> =>
  new Set([...(run.plane.checkpoints.get(step)?.files.keys() ?? [])].map((path) => path.split("/")[0]));

const weightsOf = (run: AgentRun, step: number): string | undefined =>
  [...(run.plane.checkpoints.get(step)?.files ?? [])]
    .find(([path]) => path.endsWith(".safetensors"))?.[1]
    .toString();

describe.runIf(hasPython).concurrent("a job that converts to Megatron's format", SLOW, () => {
  it("keeps what trainings of the same model and shape fetch", async ({ expect, onTestFinished }) => {
    const first = await startAgent(onTestFinished, conversionJob);
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
    const second = await startAgent(onTestFinished, converting, { before: keepKnown });
    expect(await second.ended, second.stderr()).toBe(0);
    expect(weightsOf(second, 2)).toBe("weights of the base converted + a + b");
    expect(second.stderr()).not.toContain("converting, attempt");
    // So does a job that comes late: nothing is fetched that nobody needs here.
    const late = await startAgent(onTestFinished, conversionJob, { before: keepKnown });
    expect(await late.ended, late.stderr()).toBe(0);
    expect(late.stderr()).toContain("the model was converted before");
    expect(late.stderr()).not.toContain("converting, attempt");
    // Another shape is another conversion.
    const other = {
      ...conversions,
      toMegatron: [...conversions.toMegatron, "--tensor-model-parallel-size", "2"],
    };
    const third = await startAgent(onTestFinished, conversionJob, {
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
    const killed = await startAgent(onTestFinished, conversionJob, { behaviour: { conversionDies: 9 } });
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
    const never = await startAgent(onTestFinished, conversionJob, { behaviour: { conversionFails } });
    expect(await never.ended).toBe(1);
    expect(never.exit()).toMatchObject({
      failure: { code: "invalid_input", message: expect.stringContaining("World size 16") as string },
    });
  });

  it("fails where what it made cannot be kept, and where there is no program for it", async ({
    expect,
    onTestFinished,
  }) => {
    const unkept = await startAgent(onTestFinished, conversionJob, { before: refuseToKeep });
    expect(await unkept.ended).toBe(1);
    expect(unkept.exit()).toMatchObject({ failure: { code: "value_too_large" } });
    const unknown = { ...conversions, toMegatron: ["/nowhere/python", "convert.py"] };
    const lost = await startAgent(onTestFinished, conversionJob, { native: { conversions: unknown } });
    expect(await lost.ended).toBe(1);
    expect(lost.exit()).toMatchObject({ failure: { code: "engine_failed" } });
  });

  it("ends when it is asked to, and with its agent", async ({ expect, onTestFinished }) => {
    const stopped = await startAgent(onTestFinished, conversionJob, { behaviour: { secondsToConvert: 60 } });
    await vi.waitFor(() => expect(stopped.stderr()).toContain("converting, attempt 1"), 10_000);
    stopped.agent.kill("SIGTERM");
    expect(await stopped.ended, stopped.stderr()).toBe(0);
    expect(stopped.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    expect(stopped.plane.conversions.size).toBe(0);
    const killed = await startAgent(onTestFinished, conversionJob, { behaviour: { secondsToConvert: 60 } });
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
    const run = await startAgent(onTestFinished, (plane) => ({
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
    const run = await startAgent(onTestFinished, converting);
    expect(await run.ended, run.stderr()).toBe(0);
    expect(weightsOf(run, 2)).toBe("weights of the base converted + a + b");
    expect(run.stderr()).toContain("the converted model is not kept any more: it is converted here");
    expect(run.told("run").map(({ event }) => event)).toContainEqual({
      type: "phase",
      phase: "convert-model",
    });
    expect([...run.plane.conversions.values()]).toMatchObject([{ complete: true }]);
  });

  it("fails with the cause where that fails, and ends when it is asked to", async ({
    expect,
    onTestFinished,
  }) => {
    const dead = await startAgent(onTestFinished, converting, { behaviour: { conversionDies: 9 } });
    expect(await dead.ended).toBe(1);
    expect(dead.exit()).toMatchObject({ failure: { code: "container_out_of_memory" } });
    expect(dead.plane.conversions.size).toBe(0);
    const asked = await startAgent(onTestFinished, converting, { behaviour: { secondsToConvert: 60 } });
    await vi.waitFor(() => expect(asked.stderr()).toContain("converting, attempt 1"), 10_000);
    asked.agent.kill("SIGTERM");
    expect(await asked.ended, asked.stderr()).toBe(0);
    expect(asked.exit()).toEqual({ type: "exit", outcome: "cancelled" });
  });

  it("goes on with its own where that cannot be stored", async ({ expect, onTestFinished }) => {
    const run = await startAgent(onTestFinished, converting, { before: refuseToKeep });
    expect(await run.ended, run.stderr()).toBe(0);
    expect(run.stderr()).toContain("the converted weights could not be kept: ");
  });
});

describe.runIf(hasPython).concurrent("checkpoints without Hugging Face weights", SLOW, () => {
  it("are stored at once where the engine writes none", async ({ expect, onTestFinished }) => {
    const run = await startAgent(onTestFinished, savingShards);
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    expect(partsOf(run, 2)).toEqual(new Set(["trainer"]));
    expect(run.stderr()).toContain("checkpoint 4 is stored, without Hugging Face weights");
  });

  it("are stored where the engine ended before it had written them", async ({ expect, onTestFinished }) => {
    const behaviour = { failAt: 4, how: "half-weights" };
    const run = await startAgent(onTestFinished, (plane) => slimeJob(plane, 4), { behaviour });
    expect(await run.ended).toBe(1);
    expect([...run.plane.checkpoints.keys()]).toEqual([2, 4]);
    expect(partsOf(run, 2)).toEqual(new Set(["trainer", "model"]));
    expect(partsOf(run, 4)).toEqual(new Set(["trainer"]));
    expect(run.exit()).toMatchObject({ failure: { code: "engine_failed" } });
  });
});

describe.runIf(hasPython).concurrent("a job that converts to Hugging Face's format", SLOW, () => {
  /** Of step 4 of a run that itself went on from step 6 of another. */
  const weightsJob = (plane: FakeControlPlane): Record<string, unknown> => ({
    ...conversionJob(plane),
    state: {
      ...{ id: "run-1@4", kind: "full", step: 4, model: { name: "made/model" } },
      files: [
        plane.addFile("trainer/iter_0000009/.metadata", "model.weight __0_0.distcp optimizer"),
        plane.addFile("trainer/iter_0000009/__0_0.distcp", "what was learnt"),
      ],
    },
  });

  it("adds the weights to its checkpoint, and nothing else", async ({ expect, onTestFinished }) => {
    const run = await startAgent(onTestFinished, weightsJob);
    expect(await run.ended, run.stderr()).toBe(0);
    expect([...run.plane.checkpoints.keys()]).toEqual([4]);
    expect(partsOf(run, 4)).toEqual(new Set(["model"]));
    expect(weightsOf(run, 4)).toBe("what was learnt");
    expect(run.plane.checkpoints.get(4)?.complete).toBe(true);
    expect(run.exit()).toEqual({ type: "exit", outcome: "succeeded" });
  });

  it("adds nothing where its program is killed half-way or its state is damaged", async ({
    expect,
    onTestFinished,
  }) => {
    const dead = await startAgent(onTestFinished, weightsJob, { behaviour: { conversionDies: 1 } });
    expect(await dead.ended).toBe(1);
    expect(dead.exit()).toMatchObject({ failure: { code: "container_out_of_memory" } });
    const damaged = await startAgent(onTestFinished, (plane) => {
      const job = weightsJob(plane) as { state: { files: unknown[] } };
      return { ...job, state: { ...job.state, files: job.state.files.slice(0, 1) } };
    });
    expect(await damaged.ended).toBe(1);
    expect(damaged.exit()).toMatchObject({ failure: { code: "checkpoint_mismatch" } });
    for (const { plane } of [dead, damaged]) expect(plane.checkpoints.size).toBe(0);
  });
});
