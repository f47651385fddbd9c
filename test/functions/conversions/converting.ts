import { onTestFinished } from "vitest";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { RunEvent, RunEventBody } from "../../../sdk/schema/event.ts";
import type { RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { cloudPricing } from "../../../functions/cost/pricing.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane, type TestPlane, type TestPlaneParams } from "../../fakes/control-plane.ts";
import { stepKey } from "../../../functions/records/step-key.ts";
import { fakeJob, type FakeJob } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

/** The hash under which a container keeps what it has converted. */
export const KEY = "c".repeat(64);
const PARTS = ["release/.metadata", "release/__0_0.distcp", "latest_checkpointed_iteration.txt"];

/** A home with slime, on hardware that is paid for. */
export function slimePlane(params: TestPlaneParams): Promise<TestPlane> {
  const config = { engines: () => ["slime" as const], pricing: cloudPricing(), ...params.config };
  return testPlane({ ...params, config });
}

export async function slimeSpec(
  plane: Pick<TestPlane, "json">,
  changes: Partial<RunSpecInput> = {},
): Promise<RunSpecInput> {
  const spec = await preparedSpec(plane);
  return {
    ...spec,
    trainer: { ...spec.trainer, learningRate: 1e-6 },
    engine: "slime",
    adapter: { kind: "full" },
    model: { name: "Qwen/Qwen3.5-4B", revision: "f".repeat(64) },
    slime: { convertToMegatron: true },
    ...changes,
  };
}

export async function launch(plane: TestPlane, changes: Partial<RunSpecInput> = {}): Promise<string> {
  const { run } = await plane.json<RunDetail>("POST", "/runs", await slimeSpec(plane, changes));
  await plane.reconciler.settle();
  return run.id;
}

export const detailOf = (plane: TestPlane, id: string) => plane.json<RunDetail>("GET", `/runs/${id}`);

export async function eventsOf(plane: TestPlane, id: string): Promise<RunEventBody[]> {
  const { events } = await plane.json<{ events: RunEvent[] }>("GET", `/runs/${id}/events?after=0&waitMs=0`);
  return events.map(({ body }) => body);
}

/** What a container does with weights that it has converted. */
export async function keep(job: FakeJob): Promise<void> {
  const files = PARTS.map((path) => ({ path, size: path.length, sha256: sha256Of(path) }));
  await job.call("POST", `/conversions/${KEY}`, { attempt: job.attempt, files });
  for (const path of PARTS) await job.answer("PUT", `/conversions/${KEY}/files/${path}`, path);
  await job.call("POST", `/conversions/${KEY}/complete`, { attempt: job.attempt });
}

/** What the container of a training does with a checkpoint of Megatron's shards alone. */
export async function saveState(job: FakeJob, step: number): Promise<Checkpoint> {
  const names = [".metadata", "__0_0.distcp"].map((name) => `trainer/iter_000000${step - 1}/${name}`);
  return await upload(job, step, [...names, "trainer/rollout/state.pt"]);
}

/** What the container of a conversion adds to it. */
export function addWeights(job: FakeJob, step: number): Promise<Checkpoint> {
  return upload(job, step, ["model/config.json", "model/model.safetensors"]);
}

async function upload(job: FakeJob, step: number, paths: string[]): Promise<Checkpoint> {
  const { attempt } = job;
  const files = paths.map((path) => ({ path, size: path.length, sha256: sha256Of(path) }));
  await job.call("POST", "/checkpoints", { attempt, step, kind: "full", files });
  for (const path of paths) await job.answer("PUT", `/uploads/${step}/${path}`, path);
  return job.call<Checkpoint>("POST", `/checkpoints/${step}/complete`, { attempt });
}

/** Jobs of this sort, in the order of their launch. */
export function launchedJobs(plane: TestPlane, kind: "convert" | "train"): string[] {
  return plane.containers.launched.filter((each) => each.kind === kind).map(({ jobId }) => jobId);
}

export async function speaking(plane: TestPlane, jobId: string, attempt = 1): Promise<FakeJob> {
  const job = fakeJob(plane, jobId, attempt);
  await job.heartbeat();
  await plane.reconciler.settle();
  return job;
}

/** The job that makes the weights of a checkpoint. */
export function convertJob(plane: TestPlane, id: string, step: number, attempt = 1): Promise<FakeJob> {
  return speaking(plane, `convert-${id}-c-s${stepKey(step)}-a${attempt}`, attempt);
}

/** A run that trains, and has its checkpoints converted beside. */
export async function training(changes: Partial<RunSpecInput> = {}, servesCheckpoints = false) {
  const plane = await slimePlane({ onEnd: onTestFinished, config: { servesCheckpoints } });
  const id = await launch(plane, { slime: { convertToHf: true }, ...changes });
  const save = async (step: number, job: FakeJob) => {
    const saved = await saveState(job, step);
    await plane.reconciler.settle();
    return saved;
  };
  return { plane, id, job: await speaking(plane, `train-${id}-a1`), save };
}

export const checkpointOf = (plane: TestPlane, id: string) =>
  plane.json<Checkpoint>("GET", `/checkpoints/${id}`);

export async function errorOf(response: Promise<Response>): Promise<Record<string, string>> {
  return ((await (await response).json()) as { error: Record<string, string> }).error;
}
