import { expect, it, onTestFinished } from "vitest";
import { uploadFile } from "../../../functions/jobs/checkpoints.ts";
import { fenceJob } from "../../../functions/jobs/records.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { fakeJob } from "../../fakes/job.ts";
import {
  addWeights,
  checkpointOf,
  convertJob,
  eventsOf,
  KEY,
  launch,
  slimePlane,
  training,
} from "./converting.ts";

it("the token of a conversion opens nothing of the training, and tells nothing but its log", async () => {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const id = await launch(plane);
  const job = fakeJob(plane, `convert-${id}-c-model-a1`, 1);
  await job.heartbeat();
  await plane.reconciler.settle();
  const attempt = 1;
  const status = async (method: string, path: string, body?: unknown) =>
    (await job.answer(method, path, body)).status;
  const rollout = { step: 1, rollouts: [] };
  expect(await status("POST", "/rollouts", { attempt, ...rollout })).toBe(403);
  const files = [{ path: "model/w.safetensors", size: 1, sha256: "a".repeat(64) }];
  expect(await status("POST", "/checkpoints", { attempt, step: 1, kind: "full", files })).toBe(403);
  const call = { call: "step", environment: "e", input: {} };
  expect(await status("POST", "/tools", { attempt, calls: [{ tool: "t", input: {} }] })).toBe(404);
  expect(await status("POST", "/environments", { attempt, calls: [call] })).toBe(404);
  expect(await status("GET", `/files/datasets/${"a".repeat(64)}`)).toBe(403);
  expect((await plane.call("GET", `/jobs/train-${id}-a1`, undefined, job.token)).status).not.toBe(200);

  const before = await eventsOf(plane, id);
  await job.report(
    { type: "run", event: { type: "metrics", step: 5, metrics: { loss: 1 } } },
    { type: "run", event: { type: "checkpoint", step: 5, id: `${id}@5` } },
    { type: "log", level: "info", message: "half of the layers" },
  );
  expect((await eventsOf(plane, id)).slice(before.length)).toEqual([
    { type: "log", level: "info", message: "half of the layers" },
  ]);
});

it("the conversion of a checkpoint has nothing to do with what runs start from", async () => {
  const { plane, id, job, save } = await training();
  await save(2, job);
  const convert = await convertJob(plane, id, 2);
  const files = [{ path: "release/w", size: 1, sha256: sha256Of("x") }];
  const path = `/conversions/${KEY}`;
  const answers = [
    await convert.answer("GET", path),
    await convert.answer("POST", path, { attempt: 1, files }),
    await convert.answer("PUT", `${path}/files/release/w`, "x"),
    await convert.answer("POST", `${path}/complete`, { attempt: 1 }),
    await convert.answer("GET", `${path}/files/release/w`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
});

it("weights that are there do not change any more, by the job that made them neither", async () => {
  const { plane, id, job, save } = await training();
  await save(2, job);
  const convert = await convertJob(plane, id, 2);
  await addWeights(convert, 2);
  const files = [{ path: "model/config.json", size: 5, sha256: sha256Of("other") }];
  const again = await convert.answer("POST", "/checkpoints", { attempt: 1, step: 2, kind: "full", files });
  expect(again.status).toBe(409);
  await convert.answer("PUT", "/uploads/2/model/config.json", "other");
  expect(await plane.json("POST", `/checkpoints/${id}@2/verify`)).toEqual({ ok: true });
  expect((await checkpointOf(plane, `${id}@2`)).files).toHaveLength(5);
});

it("what an attempt of a conversion still sends when it is over does not land among the next one's", async () => {
  const { plane, id, job, save } = await training();
  const { attempt } = await save(2, job);
  const convert = await convertJob(plane, id, 2);
  const path = "model/config.json";
  const files = [{ path, size: 4, sha256: sha256Of("late") }];
  await convert.call("POST", "/checkpoints", { attempt: 1, step: 2, kind: "full", files });
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      await fenceJob(plane.control, convert.id);
      stream.enqueue(new TextEncoder().encode("late"));
      stream.close();
    },
  });
  await expect(uploadFile(plane.control, convert.id, 2, path, body)).rejects.toMatchObject({
    code: "attempt_stale",
  });
  expect(await plane.control.blobs.head(`runs/${id}/checkpoints/2-a${attempt}/${path}`)).toBeUndefined();
});
