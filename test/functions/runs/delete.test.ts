import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { Run } from "../../../sdk/schema/run.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const remove = async (plane: TestPlane, id: string) => {
  const response = await plane.call("DELETE", `/runs/${id}`);
  const body = response.status === 204 ? undefined : ((await response.json()) as { error: { code: string } });
  return body?.error.code ?? response.status;
};

async function endedRun(plane: TestPlane) {
  const run = await runningRun(plane);
  await run.job.report({ type: "run", event: { type: "metrics", step: 1, metrics: { loss: 1 } } });
  await run.job.call("POST", "/rollouts", { attempt: 1, step: 1, rollouts: [] });
  await run.job.save(2);
  await run.job.exit("succeeded");
  return run;
}

describe("deleting a run", () => {
  it("removes every file and record of it and nothing else (34)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const kept = await endedRun(plane);
    const gone = await endedRun(plane);
    const folder = join(plane.control.config.home, "blobs", "objects", "runs");
    expect(readdirSync(folder).sort()).toEqual([kept.id, gone.id].sort());
    expect(await remove(plane, gone.id)).toBe(204);
    expect(readdirSync(folder)).toEqual([kept.id]);
    for (const path of ["", "/events", "/checkpoints", "/rollouts", "/logs"])
      expect((await plane.call("GET", `/runs/${gone.id}${path}`)).status).toBe(404);
    expect((await plane.call("GET", `/checkpoints/${gone.id}@2`)).status).toBe(404);
    expect(await plane.control.store.read(`run/${gone.id}`, 0, 10)).toEqual([]);
    for (const partition of ["runs", "run-specs", "jobs", `checkpoints/${gone.id}`, `rollouts/${gone.id}`]) {
      const { items } = await plane.control.store.query(partition);
      expect(items.filter(({ key }) => key.sort.includes(gone.id))).toEqual([]);
    }
    expect(await plane.containers.describe(gone.job.id)).toEqual({ state: "unknown" });
    expect((await plane.json<{ items: Run[] }>("GET", "/runs")).items.map(({ id }) => id)).toEqual([kept.id]);
    expect(existsSync(join(folder, kept.id, "checkpoints", "2-a1", "model", "w.safetensors"))).toBe(true);
    expect(await remove(plane, gone.id)).toBe("not_found");
  });

  it("is refused while the run goes on, or while its checkpoint is served or trained on (34)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const going = await runningRun(plane);
    expect(await remove(plane, going.id)).toBe("conflict");
    await going.job.exit("succeeded");
    const { id } = await endedRun(plane);
    const model = { name: "spotter/nano" };
    const endpoint = await plane.json<Endpoint>("POST", "/endpoints", { model, checkpoint: `${id}@2` });
    await plane.reconciler.settle();
    expect(await remove(plane, id)).toBe("conflict");
    await plane.json("DELETE", `/endpoints/${endpoint.name}`);
    await plane.reconciler.settle();
    const startFrom = { checkpoint: `${id}@2`, mode: "weights" as const };
    const { run } = await plane.json<{ run: Run }>("POST", "/runs", {
      ...(await preparedSpec(plane)),
      startFrom,
    });
    expect(await remove(plane, id)).toBe("conflict");
    await plane.json("POST", `/runs/${run.id}/cancel`);
    await plane.reconciler.settle();
    expect(await remove(plane, id)).toBe(204);
  });

  it("is finished by the next daemon if this one dies over it", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await endedRun(plane);
    const { blobs } = plane.control;
    const real = blobs.delete.bind(blobs);
    blobs.delete = () => Promise.reject(new Error("the process is dead"));
    expect((await plane.call("DELETE", `/runs/${id}`)).status).toBe(500);
    blobs.delete = real;
    expect((await plane.call("GET", `/runs/${id}`)).status).toBe(404);
    expect((await plane.json<{ items: Run[] }>("GET", "/runs")).items).toEqual([]);
    expect(await blobs.list(`runs/${id}/`)).not.toEqual([]);
    const second = await plane.restart();
    second.reconciler.wake();
    await second.reconciler.settle();
    expect(await second.control.blobs.list(`runs/${id}/`)).toEqual([]);
    expect((await second.control.store.query("runs")).items).toEqual([]);
  });

  it("holds up nothing else if it cannot be finished", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await endedRun(plane);
    plane.control.blobs.delete = async () => {};
    expect(await remove(plane, id)).toBe("internal");
    const second = await plane.restart();
    second.control.blobs.delete = async () => {};
    const other = await runningRun(second);
    expect(await other.state()).toMatchObject({ state: "running" });
    expect(second.complaints.join("\n")).toContain("a deleted run is not gone yet");
  });

  it("does not say that it is done while files are still there (34)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await endedRun(plane);
    plane.control.blobs.delete = async () => {};
    expect(await remove(plane, id)).toBe("internal");
  });
});
