import { expect, it, onTestFinished } from "vitest";
import type { ConvertJob } from "../../../sdk/schema/job.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { findJob } from "../../../functions/jobs/records.ts";
import {
  addWeights,
  checkpointOf,
  convertJob,
  detailOf,
  eventsOf,
  keep,
  launch,
  launchedJobs,
  saveState,
  slimePlane,
  speaking,
  training,
} from "./converting.ts";

const DEAD = { code: "engine_failed", message: "It broke off." };

it("a container that breaks off after it has stored everything has converted a checkpoint", async () => {
  const { plane, id, job, save } = await training();
  await save(2, job);
  const convert = await convertJob(plane, id, 2);
  await addWeights(convert, 2);
  await convert.exit("failed", DEAD);
  const told = (await eventsOf(plane, id)).filter(({ type }) => type === "log");
  expect(told.at(-1)).toMatchObject({
    level: "info",
    message: `Checkpoint ${id}@2 has its Hugging Face weights.`,
  });
  await job.exit("succeeded");
  expect((await detailOf(plane, id)).run.state).toBe("succeeded");
});

it("and a run begins whose weights are kept, however their container ended", async () => {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const id = await launch(plane);
  const job = await speaking(plane, `convert-${id}-c-model-a1`);
  await keep(job);
  await job.exit("failed", DEAD);
  expect(launchedJobs(plane, "train")).toEqual([`train-${id}-a1`]);
});

it("a run that waits for conversions alone ends at its limit, and keeps what it has trained", async () => {
  const { plane, id, job, save } = await training({ limits: { durationMs: 3_600_000 } });
  await save(2, job);
  const [waiting = ""] = launchedJobs(plane, "convert");
  plane.containers.set(waiting, { state: "waiting", reason: "capacity" });
  await job.exit("succeeded");
  plane.clock.advance(3_000_000);
  plane.reconciler.wake();
  await plane.reconciler.settle();
  expect((await detailOf(plane, id)).run.state).not.toBe("succeeded");
  plane.clock.advance(700_000);
  // It is told, then ended, and then its conversion is.
  for (let look = 1; look <= 3; look++) {
    plane.reconciler.wake();
    await plane.reconciler.settle();
  }
  expect((await detailOf(plane, id)).run.state).toBe("succeeded");
  expect(await checkpointOf(plane, `${id}@2`)).toMatchObject({ conversion: { state: "cancelled" } });
  expect(plane.containers.stopped).toContain(waiting);
});

it("what somebody asks for when the run's time is long over has time of its own", async () => {
  const { plane, id, job, save } = await training({ limits: { durationMs: 3_600_000, maxCostUsd: 50 } });
  await save(2, job);
  await (await convertJob(plane, id, 2)).exit("failed", DEAD);
  await job.exit("succeeded");
  plane.clock.advance(30 * 86_400_000);
  await plane.json("POST", `/checkpoints/${id}@2/convert`);
  await plane.reconciler.settle();
  const again = await convertJob(plane, id, 2, 2);
  expect((await findJob(plane.control, again.id))?.maxLifetimeMs).toBeUndefined();
  plane.clock.advance(2 * 3_600_000);
  await again.heartbeat();
  await addWeights(again, 2);
  await again.exit("succeeded");
  expect((await checkpointOf(plane, `${id}@2`)).files).toHaveLength(5);
});

it("nothing stays of weights that an attempt has stored in part", async () => {
  const { plane, id, job, save } = await training();
  const { attempt } = await save(2, job);
  const modelFiles = () => plane.control.blobs.list(`runs/${id}/checkpoints/2-a${attempt}/model/`);
  const part = async (number: number) => {
    const convert = await convertJob(plane, id, 2, number);
    const path = `model/part-${number}.safetensors`;
    const files = [{ path, size: 4, sha256: sha256Of("part") }];
    await convert.call("POST", "/checkpoints", { attempt: number, step: 2, kind: "full", files });
    await convert.answer("PUT", `/uploads/2/${path}`, "part");
    expect(await modelFiles()).toHaveLength(1);
    return convert;
  };
  await (await part(1)).exit("failed", { code: "container_failed", message: "gone" });
  expect(await modelFiles()).toEqual([]);
  plane.clock.advance(60_000);
  plane.reconciler.wake();
  await plane.reconciler.settle();
  await (await part(2)).exit("failed", DEAD);
  expect(await modelFiles()).toEqual([]);
  expect(await plane.json("POST", `/checkpoints/${id}@2/verify`)).toEqual({ ok: true });
});

it("a checkpoint is converted whose run began with one that is deleted by now", async () => {
  const { plane, id, job, save } = await training();
  await save(2, job);
  const first = await convertJob(plane, id, 2);
  await addWeights(first, 2);
  await first.exit("succeeded");
  await job.exit("failed", DEAD);
  const slime = { convertToHf: true };
  const second = await launch(plane, { slime, startFrom: { checkpoint: `${id}@2`, mode: "weights" } });
  const train = await speaking(plane, `train-${second}-a1`);
  await save(2, train);
  await (await convertJob(plane, second, 2)).exit("failed", DEAD);
  await train.exit("succeeded");
  expect((await plane.call("DELETE", `/checkpoints/${id}@2`)).status).toBe(204);
  await plane.json("POST", `/checkpoints/${second}@2/convert`);
  await plane.reconciler.settle();
  const told = await (await convertJob(plane, second, 2, 2)).call<ConvertJob>("GET", "");
  expect(told.state?.id).toBe(`${second}@2`);
  expect(told.native?.conversions.toHf).toContain("{{spotter.iterationDir}}");
});

it("a run that was cancelled has no evals, when its checkpoint gets weights after all", async () => {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const { dataset, rewards } = await preparedSpec(plane);
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  const source = await plane.json<EvalRecord>("POST", "/evals", { endpoint: "base", dataset, rewards });
  const id = await launch(plane, {
    slime: { convertToHf: true },
    evals: [{ evalId: source.id, everySteps: 2 }],
  });
  const job = await speaking(plane, `train-${id}-a1`);
  await saveState(job, 2);
  await plane.json("POST", `/runs/${id}/cancel`);
  await job.exit("cancelled");
  await plane.json("POST", `/checkpoints/${id}@2/convert`);
  await plane.reconciler.settle();
  const attempt = launchedJobs(plane, "convert").length;
  const convert = await convertJob(plane, id, 2, attempt);
  await addWeights(convert, 2);
  await convert.exit("succeeded");
  expect((await checkpointOf(plane, `${id}@2`)).files).toHaveLength(5);
  expect(plane.containers.launched.filter(({ jobId }) => jobId.startsWith(`eval-${id}`))).toEqual([]);
});

it("a run that comes to a limit between two attempts takes its conversions along", async () => {
  const { plane, id, job, save } = await training({ limits: { durationMs: 3_600_000 } });
  await save(2, job);
  const [waiting = ""] = launchedJobs(plane, "convert");
  plane.containers.set(waiting, { state: "waiting", reason: "capacity" });
  await job.exit("failed", { code: "container_failed", message: "gone" });
  expect((await detailOf(plane, id)).run.state).toBe("queued");
  plane.clock.advance(3_700_000);
  for (let look = 1; look <= 2; look++) {
    plane.reconciler.wake();
    await plane.reconciler.settle();
  }
  expect((await detailOf(plane, id)).run).toMatchObject({ state: "failed", failure: { code: "timeout" } });
  expect(await checkpointOf(plane, `${id}@2`)).toMatchObject({ conversion: { state: "cancelled" } });
  expect(plane.containers.stopped).toContain(waiting);
});
