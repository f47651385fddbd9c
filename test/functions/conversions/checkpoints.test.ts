import { describe, expect, it, onTestFinished } from "vitest";
import type { CleanupReport } from "../../../sdk/schema/cleanup.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { ConvertJob, TrainJob } from "../../../sdk/schema/job.ts";
import type { Status } from "../../../sdk/schema/status.ts";
import { stepKey } from "../../../functions/records/step-key.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import {
  addWeights,
  checkpointOf,
  convertJob,
  detailOf,
  errorOf,
  eventsOf,
  launch,
  launchedJobs,
  saveState,
  slimePlane,
  slimeSpec,
  speaking,
  training,
} from "./converting.ts";

const slime = { convertToHf: true };

describe("a checkpoint of Megatron's shards", () => {
  it("is there at once, and gets its weights from a job beside the training, before the run ends", async () => {
    const { plane, id, job, save } = await training();
    await save(2, job);
    expect(plane.containers.launched.at(-1)).toMatchObject({
      ...{ kind: "convert", engine: "slime", isBeside: true, hardware: { gpu: "H100", count: 1 } },
    });
    expect(await checkpointOf(plane, `${id}@2`)).toMatchObject({ conversion: { state: "starting" } });
    const convert = await convertJob(plane, id, 2);
    const told = await convert.call<ConvertJob>("GET", "");
    expect(told.state?.files.map(({ path }) => path)).toEqual([
      "trainer/iter_0000001/.metadata",
      "trainer/iter_0000001/__0_0.distcp",
    ]);
    const [first] = told.state?.files ?? [];
    const bytes = await plane.call("GET", new URL(first?.url ?? "").pathname, undefined, convert.token);
    expect(await bytes.text()).toBe(first?.path);
    plane.clock.advance(1_800_000);
    for (const each of [job, convert]) await each.heartbeat();
    await job.exit("succeeded");
    // Its container is gone: from here on the conversion alone costs something.
    plane.clock.advance(1_800_000);
    await convert.heartbeat();
    expect((await detailOf(plane, id)).run.state).not.toBe("succeeded");
    await addWeights(convert, 2);
    await convert.exit("succeeded");
    const whole = await checkpointOf(plane, `${id}@2`);
    expect(whole).not.toHaveProperty("conversion");
    expect(whole.files.map(({ path }) => path.split("/")[0])).toEqual([
      "trainer",
      "trainer",
      "trainer",
      "model",
      "model",
    ]);
    expect(await plane.json("POST", `/checkpoints/${id}@2/verify`)).toEqual({ ok: true });
    const { run, charges } = await detailOf(plane, id);
    expect(run.state).toBe("succeeded");
    expect(charges).toMatchObject([
      { attempt: 1, gpus: 8, endedAtMs: 2_800_000 },
      { attempt: 1, gpus: 1, conversion: `${id}-c-s${stepKey(2)}`, endedAtMs: 4_600_000 },
    ]);
    expect(await eventsOf(plane, id)).toContainEqual({
      ...{ type: "log", level: "info", message: `Checkpoint ${id}@2 has its Hugging Face weights.` },
    });
  });

  it("is gone on from meanwhile, and served, evaluated and begun from when it has weights", async () => {
    const plane = await slimePlane({ onEnd: onTestFinished, config: { servesCheckpoints: true } });
    const { dataset, rewards } = await preparedSpec(plane);
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    const source = await plane.json<EvalRecord>("POST", "/evals", { endpoint: "base", dataset, rewards });
    const id = await launch(plane, { slime, evals: [{ evalId: source.id, everySteps: 2 }] });
    const job = await speaking(plane, `train-${id}-a1`);
    await saveState(job, 2);
    await plane.reconciler.settle();
    const model = { name: "Qwen/Qwen3.5-4B", revision: "f".repeat(64) };
    const checkpoint = `${id}@2`;
    const spec = (mode: "weights" | "continue") =>
      slimeSpec(plane, { slime: {}, startFrom: { checkpoint, mode } });
    const refused = [
      plane.call("POST", "/endpoints", { model, checkpoint }),
      plane.call("POST", "/v1/chat/completions", {
        model: checkpoint,
        messages: [{ role: "user", content: "" }],
      }),
      plane.call("POST", "/runs", await spec("weights")),
    ];
    for (const response of refused)
      expect(await errorOf(response)).toMatchObject({
        code: "weights_missing",
        message: expect.stringContaining("still being converted") as string,
      });
    const going = await plane.json<{ run: { id: string } }>("POST", "/runs", await spec("continue"));
    await plane.reconciler.settle();
    const next = await speaking(plane, `train-${going.run.id}-a1`);
    expect((await next.call<TrainJob>("GET", "")).start?.files.map(({ path }) => path.split("/")[0])).toEqual(
      ["trainer", "trainer", "trainer"],
    );
    const evals = () => plane.containers.launched.filter(({ jobId }) => jobId.startsWith(`eval-${id}`));
    expect(evals()).toEqual([]);
    const convert = await convertJob(plane, id, 2);
    await addWeights(convert, 2);
    await convert.exit("succeeded");
    expect(evals()).toHaveLength(1);
    await plane.json("POST", "/endpoints", { model, checkpoint, name: "served" });
    await plane.json("POST", "/runs", await spec("weights"));
  });

  it("is kept without weights where those fail, the run succeeds, and it is tried again when asked", async () => {
    const { plane, id, job, save } = await training();
    await save(4, job);
    const failed = await convertJob(plane, id, 4);
    await failed.exit("failed", { code: "engine_failed", message: "no such layer" });
    await job.exit("succeeded");
    expect((await detailOf(plane, id)).run.state).toBe("succeeded");
    expect(await checkpointOf(plane, `${id}@4`)).toMatchObject({
      conversion: {
        state: "failed",
        failure: { code: "conversion_failed", logTail: [`line of ${failed.id}`] },
      },
    });
    const { model } = await checkpointOf(plane, `${id}@4`);
    const endpoint = { model, checkpoint: `${id}@4` };
    expect(await errorOf(plane.call("POST", "/endpoints", endpoint))).toMatchObject({
      code: "weights_missing",
      message: expect.stringContaining("no such layer") as string,
      hint: expect.stringContaining(`spotter checkpoint convert ${id}@4`) as string,
    });
    expect(await eventsOf(plane, id)).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("It is kept; try again") as string }),
    );
    expect(await plane.json("POST", `/checkpoints/${id}@4/convert`)).toMatchObject({
      conversion: { state: "queued" },
    });
    await plane.reconciler.settle();
    const again = await convertJob(plane, id, 4, 2);
    expect(await errorOf(plane.call("DELETE", `/checkpoints/${id}@4`))).toMatchObject({
      message: expect.stringContaining("its weights are being converted") as string,
    });
    // The run has ended; the daemon is not idle, and what it runs costs something.
    const { activeRuns, runs, spend } = await plane.json<Status>("GET", "/status");
    expect({ activeRuns, runs }).toEqual({ activeRuns: 1, runs: { succeeded: 1 } });
    expect(spend?.hourlyUsd).toBeGreaterThan(0);
    await addWeights(again, 4);
    await again.exit("succeeded");
    expect(await checkpointOf(plane, `${id}@4`)).not.toHaveProperty("conversion");
    // Asked for once more it stays as it is.
    await plane.json("POST", `/checkpoints/${id}@4/convert`);
    await plane.reconciler.settle();
    expect(launchedJobs(plane, "convert")).toHaveLength(2);
    expect((await detailOf(plane, id)).charges?.map(({ endedAtMs }) => endedAtMs !== undefined)).toEqual([
      ...[true, true, true],
    ]);
  });

  it("that was saved by a run which failed gets its weights all the same; one of a cancelled run when asked", async () => {
    const { plane, id, job, save } = await training();
    await save(2, job);
    await job.exit("failed", { code: "engine_failed", message: "crash" });
    expect((await detailOf(plane, id)).run.state).toBe("failed");
    const convert = await convertJob(plane, id, 2);
    expect(await plane.json("GET", `/runs/${id}/checkpoints`)).toMatchObject({
      items: [{ conversion: { state: "running" } }],
    });
    await addWeights(convert, 2);
    await convert.exit("succeeded");
    expect((await checkpointOf(plane, `${id}@2`)).files).toHaveLength(5);

    const other = await launch(plane, { slime });
    const train = await speaking(plane, `train-${other}-a1`);
    await save(2, train);
    await plane.json("POST", `/runs/${other}/cancel`);
    await train.exit("cancelled");
    expect((await detailOf(plane, other)).run.state).toBe("cancelled");
    expect(await checkpointOf(plane, `${other}@2`)).toMatchObject({ conversion: { state: "cancelled" } });
    expect(await plane.containers.list()).toEqual([]);
    await plane.json("POST", `/checkpoints/${other}@2/convert`);
    await plane.reconciler.settle();
    const asked = await convertJob(plane, other, 2, 2);
    // A run that is deleted takes it along, and its files.
    expect((await plane.call("DELETE", `/runs/${other}`)).status).toBe(204);
    plane.reconciler.wake();
    await plane.reconciler.settle();
    expect(await plane.containers.list()).toEqual([]);
    expect((await asked.answer("POST", "/heartbeat", { attempt: 2 })).status).toBe(404);
    expect(await plane.control.blobs.list(`runs/${other}/`)).toEqual([]);
  });

  it("waits for its turn, so that slow ones do not pile up, and stays while it is worked on", async () => {
    const { plane, id, job, save } = await training({ retention: { keepLast: 1 } });
    for (const step of [1, 2, 3]) await save(step, job);
    const ofStep = (step: number) => `convert-${id}-c-s${stepKey(step)}-a1`;
    expect(launchedJobs(plane, "convert")).toEqual([ofStep(1)]);
    const { items } = await plane.json<CleanupReport>("POST", "/cleanup", {});
    expect(items).toEqual([]);
    const first = await convertJob(plane, id, 1);
    await addWeights(first, 1);
    await first.exit("succeeded");
    expect(launchedJobs(plane, "convert")).toEqual([ofStep(1), ofStep(2)]);
    expect((await plane.json<CleanupReport>("POST", "/cleanup", {})).items.map(({ name }) => name)).toEqual([
      `${id}@1`,
    ]);
  });

  it("takes weights from its own conversion alone", async () => {
    const { plane, id, job, save } = await training();
    await save(2, job);
    const convert = await convertJob(plane, id, 2);
    const files = (path: string) => [{ path, size: 1, sha256: "0".repeat(64) }];
    const begin = (step: number, path: string) =>
      convert.answer("POST", "/checkpoints", { attempt: 1, step, kind: "full", files: files(path) });
    expect(await errorOf(begin(3, "model/w"))).toMatchObject({ code: "forbidden" });
    expect(await errorOf(begin(2, "trainer/iter_0000001/.metadata"))).toMatchObject({
      code: "invalid_input",
    });
    await convert.exit("succeeded");
    // It said that it is done, and nothing is there.
    expect(await checkpointOf(plane, `${id}@2`)).toMatchObject({ conversion: { state: "failed" } });
  });

  it("is not what its run is asked by, while an earlier one has weights", async () => {
    const { plane, id, job, save } = await training({}, true);
    await save(2, job);
    const convert = await convertJob(plane, id, 2);
    await addWeights(convert, 2);
    await convert.exit("succeeded");
    await save(4, job);
    expect(await plane.control.routes.latestCheckpoint(id)).toBe(`${id}@2`);
    const { data } = await plane.json<{ data: { id: string }[] }>("GET", "/v1/models");
    expect(data.map((each) => each.id)).toEqual([id, `${id}@2`]);
    const later = await convertJob(plane, id, 4);
    await addWeights(later, 4);
    await later.exit("succeeded");
    expect(await plane.control.routes.latestCheckpoint(id)).toBe(`${id}@4`);
  });
});
