import { onTestFinished } from "vitest";
import type { CreatedKey } from "../../../sdk/schema/key.ts";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun, type FakeJob } from "../../fakes/job.ts";
import { fakeUpstream } from "../../fakes/upstream.ts";

export const CHAT = "/v1/chat/completions";
export const HI = [{ role: "user", content: "hi" }];
export const NANO = { name: "spotter/nano" };

export interface Trained {
  plane: TestPlane;
  run: string;
  job: FakeJob;
  /** Brings the next replica of an endpoint up; it answers with the model it was asked for. */
  bringUp: (endpoint: string, launch?: number) => Promise<void>;
}

/** A run with a LoRA checkpoint at step 2, on a home that serves checkpoints for the asking unless told not to. */
export async function trained(servesCheckpoints = true): Promise<Trained> {
  const plane = await testPlane({ onEnd: onTestFinished });
  plane.control.config.servesCheckpoints = servesCheckpoints;
  const upstream = await fakeUpstream(onTestFinished, (response, { model }) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ model }));
  });
  const { id, job } = await runningRun(plane);
  await job.save(2, "lora");
  const bringUp = async (endpoint: string, launch = 1) => {
    await plane.reconciler.settle();
    const replica = fakeJob(plane, `serve-${endpoint}-r1-${launch}`, launch);
    await replica.heartbeat();
    await replica.report({ type: "ready", address: upstream.address });
    await plane.reconciler.settle();
  };
  return { plane, run: id, job, bringUp };
}

export const ask = (plane: TestPlane, model: string, key?: string) =>
  plane.call("POST", CHAT, { model, messages: HI }, key);

export async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  return ((await response.json()) as { error: { code: string; message: string } }).error;
}

export async function endpoints(plane: TestPlane): Promise<Endpoint[]> {
  return (await plane.json<{ items: Endpoint[] }>("GET", "/endpoints")).items;
}

export async function asker(plane: TestPlane, names?: string[]): Promise<string> {
  const body = { name: "k", scope: "chat", ...(names && { endpoints: names }) };
  return (await plane.json<CreatedKey>("POST", "/keys", body)).key;
}
