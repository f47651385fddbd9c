import { describe, expect, it, onTestFinished } from "vitest";
import type { JobCheckpoint } from "../../../sdk/schema/job.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun, type FakeJob } from "../../fakes/job.ts";

const NANO = { name: "spotter/nano" };

async function replicaOf(plane: TestPlane, name: string, body: object): Promise<FakeJob> {
  await plane.json("POST", "/endpoints", { name, ...body });
  await plane.reconciler.settle();
  const replica = fakeJob(plane, `serve-${name}-r1-1`, 1);
  await replica.heartbeat();
  return replica;
}

async function refusalOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

describe("an adapter for a replica", () => {
  it("is handed out with the files that serve, and with no others", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const parts = ["model/w.safetensors", "trainer/adam.safetensors"];
    const files = parts.map((path) => ({ path, size: path.length, sha256: sha256Of(path) }));
    await job.call("POST", "/checkpoints", { attempt: 1, step: 2, kind: "lora", files });
    for (const path of parts) await job.answer("PUT", `/uploads/2/${path}`, path);
    await job.call("POST", "/checkpoints/2/complete", { attempt: 1 });
    const replica = await replicaOf(plane, "base", { model: NANO });
    const adapter = await replica.call<JobCheckpoint>("GET", `/adapters/${encodeURIComponent(`${id}@2`)}`);
    expect(adapter).toMatchObject({ id: `${id}@2`, kind: "lora", step: 2, model: NANO });
    expect(adapter.files.map(({ path, sha256 }) => [path, sha256])).toEqual([
      [parts[0], sha256Of(parts[0] ?? "")],
    ]);
    const path = new URL(adapter.files[0]?.url ?? "").pathname;
    expect(await (await plane.call("GET", path, undefined, replica.token)).text()).toBe(parts[0]);
    for (const other of ["trainer/adam.safetensors", "model/none", "..%2f..%2fsecrets.json"]) {
      const stray = path.replace("model/w.safetensors", other);
      expect((await plane.call("GET", stray, undefined, replica.token)).status, other).toBe(403);
    }
    expect((await plane.call("GET", path, undefined, job.token)).status).toBe(403);
  });

  it("is none that lies on other weights, and none for who serves a checkpoint or trains", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    await job.save(2, "lora");
    await job.save(3, "full");
    const base = await replicaOf(plane, "base", { model: NANO });
    const other = await replicaOf(plane, "other", { model: { name: "/models/other" } });
    const revision = await replicaOf(plane, "revision", { model: { ...NANO, revision: "0".repeat(64) } });
    const tuned = await replicaOf(plane, "tuned", { model: NANO, checkpoint: `${id}@2` });
    const ask = async (from: FakeJob, name: string) =>
      refusalOf(await from.answer("GET", `/adapters/${encodeURIComponent(name)}`));
    const notThis = [404, "model_not_found"];
    expect(await ask(base, `${id}@3`)).toEqual(notThis);
    for (const replica of [other, revision, tuned]) expect(await ask(replica, `${id}@2`)).toEqual(notThis);
    for (const name of [`${id}@9`, "nobody@1", "x"])
      expect(await ask(base, name), name).toEqual([404, "checkpoint_not_found"]);
    expect(await ask(job, `${id}@2`)).toEqual([403, "forbidden"]);
  });
});
