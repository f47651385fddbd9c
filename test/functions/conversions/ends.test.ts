import { expect, it, onTestFinished } from "vitest";
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
