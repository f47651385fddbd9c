import { expect, it, onTestFinished } from "vitest";
import { fakeJob } from "../../fakes/job.ts";
import { eventsOf, launch, slimePlane } from "./converting.ts";

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
