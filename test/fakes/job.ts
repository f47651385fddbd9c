import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { RunDetail } from "../../sdk/schema/run.ts";
import type { RunSpecInput } from "../../sdk/schema/run-spec.ts";
import { sha256Of } from "../../functions/records/hash.ts";
import type { TestPlane } from "./control-plane.ts";
import { preparedSpec } from "./run-spec.ts";

/** A container as a test plays it. */
export interface FakeJob {
  id: string;
  token: string;
  attempt: number;
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  answer(method: string, path: string, body?: unknown): Promise<Response>;
  heartbeat(): Promise<{ cancel: boolean }>;
  /** Numbers the events and reports them as one batch. */
  report(...bodies: unknown[]): Promise<unknown>;
  exit(
    outcome: "succeeded" | "failed" | "cancelled",
    failure?: { code: string; message: string },
  ): Promise<void>;
  save(step: number, kind?: Checkpoint["kind"]): Promise<Checkpoint>;
}

export function fakeJob(
  plane: Pick<TestPlane, "containers" | "call" | "json" | "reconciler">,
  id: string,
  attempt: number,
): FakeJob {
  const token = plane.containers.environmentOf(id).SPOTTER_JOB_TOKEN;
  let seq = 0;
  const answer = (method: string, path: string, body?: unknown) =>
    plane.call(method, `/jobs/${id}${path}`, body, token);
  const call = <T>(method: string, path: string, body?: unknown) =>
    plane.json<T>(method, `/jobs/${id}${path}`, body, token);
  const report = (...bodies: unknown[]) =>
    call("POST", "/events", { attempt, events: bodies.map((body) => ({ seq: ++seq, body })) });
  return {
    id,
    token,
    attempt,
    answer,
    call,
    report,
    heartbeat: () => call("POST", "/heartbeat", { attempt }),
    async exit(outcome, failure) {
      await report({ type: "exit", outcome, ...(failure && { failure }) });
      await plane.reconciler.settle();
    },
    async save(step, kind = "full") {
      const content = `weights of step ${step} by attempt ${attempt}`;
      const files = [{ path: "model/w.safetensors", size: content.length, sha256: sha256Of(content) }];
      await call("POST", "/checkpoints", { attempt, step, kind, files });
      const put = await answer("PUT", `/uploads/${step}/model/w.safetensors`, content);
      if (put.status !== 204) throw new Error(`The upload answered ${put.status}`);
      return call<Checkpoint>("POST", `/checkpoints/${step}/complete`, { attempt });
    },
  };
}

/** Launches a run and lets its first container come up and speak. */
export async function runningRun(
  plane: TestPlane,
  changes: Partial<RunSpecInput> = {},
): Promise<{ id: string; job: FakeJob; state: () => Promise<RunDetail["run"]> }> {
  const { run } = await plane.json<RunDetail>("POST", "/runs", {
    ...(await preparedSpec(plane)),
    ...changes,
  });
  await plane.reconciler.settle();
  const job = fakeJob(plane, `train-${run.id}-a1`, 1);
  await job.heartbeat();
  await plane.reconciler.settle();
  const state = async () => (await plane.json<RunDetail>("GET", `/runs/${run.id}`)).run;
  return { id: run.id, job, state };
}
