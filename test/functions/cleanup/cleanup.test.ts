import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CleanupReport } from "../../../sdk/schema/cleanup.ts";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

const DAY_MS = 86_400_000;

async function plane(): Promise<TestPlane> {
  return testPlane({ onEnd: onTestFinished });
}

function clean(plane: TestPlane, request: object = {}): Promise<CleanupReport> {
  return plane.json<CleanupReport>("POST", "/cleanup", request);
}

async function steps(plane: TestPlane, id: string): Promise<number[]> {
  const { items } = await plane.json<{ items: Checkpoint[] }>("GET", `/runs/${id}/checkpoints`);
  return items.map(({ step }) => step);
}

async function ended(plane: TestPlane, saved = [1, 2, 3]): Promise<string> {
  const { id, job } = await runningRun(plane);
  for (const step of saved) await job.save(step);
  await job.call("POST", "/rollouts", { attempt: 1, step: 1, rollouts: [] });
  await job.exit("succeeded");
  return id;
}

function files(plane: TestPlane): string[] {
  const root = join(plane.control.config.home, "blobs", "objects");
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe("cleaning up", () => {
  it("removes of old runs what is asked, once, and tells the same beforehand", async () => {
    const each = await plane();
    const id = await ended(each);
    expect((await clean(each, { keepLast: 1 })).items).toEqual([]);
    each.clock.advance(8 * DAY_MS);
    const planned = await clean(each, { keepLast: 1, dryRun: true });
    expect(planned.items.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      `checkpoint ${id}@1`,
      `checkpoint ${id}@2`,
      `rollouts ${id} step 1`,
    ]);
    expect(await steps(each, id)).toEqual([1, 2, 3]);
    expect(await clean(each, { keepLast: 1 })).toEqual({ ...planned, dryRun: false });
    expect(await steps(each, id)).toEqual([3]);
    expect((await each.call("GET", `/runs/${id}/rollouts`)).status).toBe(404);
    expect(files(each).filter((name) => name === "w.safetensors")).toHaveLength(1);
    expect((await clean(each, { keepLast: 1 })).items).toEqual([]);
    expect((await each.call("GET", `/runs/${id}`)).status).toBe(200);
  });

  it("spares what is pinned, served, or begun from", async () => {
    const each = await plane();
    const id = await ended(each, [1, 2, 3, 4]);
    await each.json("PATCH", `/checkpoints/${id}@1`, { pinned: true });
    await each.json("POST", "/endpoints", { model: { name: "spotter/nano" }, checkpoint: `${id}@2` });
    await runningRun(each, { startFrom: { checkpoint: `${id}@3`, mode: "weights" } });
    await clean(each, { keepLast: 0, olderThanMs: 0 });
    each.clock.advance(1);
    await clean(each, { keepLast: 0, olderThanMs: 0 });
    expect(await steps(each, id)).toEqual([1, 2, 3]);
    for (const [step, why] of [
      [1, "pinned"],
      [2, "serves it"],
      [3, "starts from it"],
    ]) {
      const refused = await each.call("DELETE", `/checkpoints/${id}@${step}`);
      expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining(String(why))]);
    }
    expect((await each.call("DELETE", `/checkpoints/${id}@4`)).status).toBe(404);
    await each.json("PATCH", `/checkpoints/${id}@1`, { pinned: false });
    expect((await each.call("DELETE", `/checkpoints/${id}@1`)).status).toBe(204);
    expect(await steps(each, id)).toEqual([2, 3]);
  });

  it("follows the retention of a run while it goes on, and never takes what it may begin from", async () => {
    const each = await plane();
    const { id, job } = await runningRun(each, { retention: { keepLast: 1, keepEvery: 10 } });
    for (const step of [5, 10, 15, 20, 25, 28]) await job.save(step);
    await clean(each);
    expect(await steps(each, id)).toEqual([10, 20, 28]);
    const last = await each.call("DELETE", `/checkpoints/${id}@28`);
    expect([last.status, await last.text()]).toEqual([409, expect.stringContaining("begin there again")]);
    await job.save(30);
    expect(await steps(each, id)).toEqual([10, 20, 28, 30]);
  });

  it("removes what never became a checkpoint, but not what is being uploaded", async () => {
    const each = await plane();
    const { id, job } = await runningRun(each);
    const { blobs } = each.control;
    await blobs.put("runs/run-gone/checkpoints/3-a1/model/w", new Uint8Array(3));
    await blobs.put(`runs/${id}/checkpoints/3-a0/model/w`, new Uint8Array(5));
    await blobs.put(`runs/${id}/checkpoints/3-a1/model/w`, new Uint8Array(7));
    const { items } = await clean(each);
    expect(items.map(({ kind, bytes }) => `${kind} ${bytes}`).sort()).toEqual(["leftover 3", "leftover 5"]);
    await job.save(3);
    expect(await steps(each, id)).toEqual([3]);
  });

  it("removes uploads that nothing refers to, and takes them again", async () => {
    const each = await plane();
    const id = await ended(each);
    const body = JSON.stringify({ prompt: [{ role: "user", content: "unused" }], row: {} });
    const path = `/datasets/${sha256Of(body)}`;
    await each.json("PUT", path, body);
    each.clock.advance(8 * DAY_MS);
    const { items } = await clean(each);
    expect(items.map(({ kind }) => kind).sort()).toEqual(["dataset", "rollouts"]);
    expect((await each.call("GET", path)).status).toBe(404);
    await each.json("PUT", path, body);
    expect((await each.call("GET", path)).status).toBe(200);
    expect((await each.call("GET", `/runs/${id}`)).status).toBe(200);
  });

  it("looks again when something began meanwhile", async () => {
    const each = await plane();
    const id = await ended(each);
    each.clock.advance(8 * DAY_MS);
    const [report] = await Promise.all([
      clean(each, { keepLast: 0 }),
      each.call("POST", "/endpoints", { model: { name: "spotter/nano" }, checkpoint: `${id}@2` }),
    ]);
    const served = (await each.json<{ items: object[] }>("GET", "/endpoints")).items.length === 1;
    // Whoever came first won: it is served and there, or it is gone and nothing serves it.
    expect(await steps(each, id)).toEqual(served ? [2] : []);
    expect(report.items.some(({ name }) => name === `${id}@2`)).toBe(!served);
  });

  it("finds a damaged file, and lets the damaged checkpoint be deleted", async () => {
    const each = await plane();
    const id = await ended(each);
    expect(await each.json("POST", `/checkpoints/${id}@2/verify`)).toEqual({ ok: true });
    await each.control.blobs.put(`runs/${id}/checkpoints/2-a1/model/w.safetensors`, new Uint8Array(30));
    expect(await each.json("POST", `/checkpoints/${id}@2/verify`)).toMatchObject({
      ok: false,
      damage: expect.stringContaining("hash") as string,
    });
    expect((await each.call("DELETE", `/checkpoints/${id}@2`)).status).toBe(204);
  });
});
