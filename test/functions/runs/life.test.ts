import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

async function launched(): Promise<{ plane: TestPlane; id: string }> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { run, url } = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
  expect(url).toBe(`http://127.0.0.1:7717/ui/runs/${run.id}`);
  await plane.reconciler.settle();
  return { plane, id: run.id };
}

function jobOf(plane: TestPlane, id: string, attempt: number) {
  const job = `train-${id}-a${attempt}`;
  const token = plane.containers.environmentOf(job).SPOTTER_JOB_TOKEN;
  let seq = 0;
  return {
    job,
    token,
    call: <T>(method: string, path: string, body?: unknown) =>
      plane.json<T>(method, `/jobs/${job}${path}`, body, token),
    report: (...bodies: unknown[]) =>
      plane.json(
        "POST",
        `/jobs/${job}/events`,
        { attempt, events: bodies.map((body) => ({ seq: ++seq, body })) },
        token,
      ),
  };
}

async function save(plane: TestPlane, id: string, attempt: number, step: number): Promise<Checkpoint> {
  const { call } = jobOf(plane, id, attempt);
  const content = `weights of step ${step}`;
  const files = [{ path: "model/w.safetensors", size: content.length, sha256: sha256Of(content) }];
  await call("POST", "/checkpoints", { attempt, step, kind: "full", files });
  const { job, token } = jobOf(plane, id, attempt);
  const put = await plane.call("PUT", `/jobs/${job}/uploads/${step}/model/w.safetensors`, content, token);
  expect(put.status).toBe(204);
  return call<Checkpoint>("POST", `/checkpoints/${step}/complete`, { attempt });
}

describe("a run", () => {
  it("goes from queued to succeeded, with events, a checkpoint and rollouts", async () => {
    const { plane, id } = await launched();
    const { call, report } = jobOf(plane, id, 1);
    const spec = await call<JobSpec>("GET", "");
    expect(spec).toMatchObject({ kind: "train", runId: id, attempt: 1, threads: 2 });
    expect(await call("POST", "/heartbeat", { attempt: 1 })).toEqual({ cancel: false });
    await plane.reconciler.settle();
    await report({ type: "run", event: { type: "phase", phase: "generate" } });
    await report({ type: "run", event: { type: "metrics", step: 4, metrics: { reward: 0.5 } } });
    const checkpoint = await save(plane, id, 1, 4);
    expect(checkpoint).toMatchObject({ id: `${id}@4`, runId: id, step: 4, attempt: 1 });
    await report({ type: "exit", outcome: "succeeded" });
    await plane.reconciler.settle();

    const { run } = await plane.json<RunDetail>("GET", `/runs/${id}`);
    expect(run).toMatchObject({ state: "succeeded", step: 4, attempt: 1, metrics: { reward: 0.5 } });
    const page = await plane.json<RunEventPage>("GET", `/runs/${id}/events?after=0`);
    expect(page.done).toBe(true);
    const told = page.events.map(({ body }) => (body.type === "state" ? body.state : body.type));
    expect(told).toEqual([
      "queued",
      "attempt",
      "provisioning",
      "starting",
      "running",
      "phase",
      "metrics",
      "checkpoint",
      "succeeded",
    ]);
    expect(plane.complaints).toEqual([]);
  });
});
