import { describe, expect, it, onTestFinished } from "vitest";
import type { CleanupReport } from "../../../sdk/schema/cleanup.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import type { JobFile } from "../../../sdk/schema/job.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun, type FakeJob } from "../../fakes/job.ts";

const KEY = "c".repeat(64);
const PARTS = ["release/.metadata", "release/__0_0.distcp", "latest_checkpointed_iteration.txt"];
const DAY_MS = 86_400_000;

const announced = (text = "") =>
  PARTS.map((path) => ({ path, size: (path + text).length, sha256: sha256Of(path + text) }));

async function keep(job: FakeJob, text = ""): Promise<void> {
  await job.call("POST", `/conversions/${KEY}`, { attempt: 1, files: announced(text) });
  for (const path of PARTS) {
    const put = await job.answer("PUT", `/conversions/${KEY}/files/${path}`, path + text);
    expect(put.status, path).toBe(204);
  }
  await job.call("POST", `/conversions/${KEY}/complete`, { attempt: 1 });
}

async function textOf(plane: TestPlane, job: FakeJob, path = PARTS[1]): Promise<string> {
  const { files } = await job.call<{ files: JobFile[] }>("GET", `/conversions/${KEY}`);
  const url = new URL(files.find((file) => file.path === path)?.url ?? "");
  return (await plane.call("GET", url.pathname, undefined, job.token)).text();
}

const statusOf = async (response: Promise<Response>) => (await response).status;

describe("converted weights", () => {
  it("are there for other runs when they are complete, and not before", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const other = (await runningRun(plane)).job;
    expect(await statusOf(other.answer("GET", `/conversions/${KEY}`))).toBe(404);
    await job.call("POST", `/conversions/${KEY}`, { attempt: 1, files: announced() });
    await job.answer("PUT", `/conversions/${KEY}/files/${PARTS[0]}`, PARTS[0]);
    expect(await statusOf(other.answer("GET", `/conversions/${KEY}`))).toBe(404);
    const incomplete = await job.answer("POST", `/conversions/${KEY}/complete`, { attempt: 1 });
    expect(await incomplete.json()).toMatchObject({ error: { code: "blob_corrupt", where: PARTS[1] } });
    await keep(job);
    expect(await textOf(plane, other)).toBe(PARTS[1]);
    // Twice is harmless.
    await job.call("POST", `/conversions/${KEY}/complete`, { attempt: 1 });
  });

  it("of two who made the same at a time are the first one's, whole", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const [one, two] = [(await runningRun(plane)).job, (await runningRun(plane)).job];
    await one.call("POST", `/conversions/${KEY}`, { attempt: 1, files: announced("1") });
    await two.call("POST", `/conversions/${KEY}`, { attempt: 1, files: announced("2") });
    await keep(one, "1");
    await keep(two, "2");
    for (const path of PARTS) expect(await textOf(plane, two, path)).toBe(`${path}1`);
  });

  it("are nothing for who does not train, has other bytes, a stale attempt or no key", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    await keep(job);
    await plane.json("POST", "/endpoints", { name: "base", model: { name: "spotter/nano" } });
    await plane.reconciler.settle();
    const replica = fakeJob(plane, "serve-base-r1-1", 1);
    expect(await statusOf(replica.answer("GET", `/conversions/${KEY}`))).toBe(403);
    const begin = { attempt: 1, files: announced() };
    expect(await statusOf(replica.answer("POST", `/conversions/${KEY}`, begin))).toBe(403);
    const wrong = job.answer("PUT", `/conversions/${KEY}/files/${PARTS[0]}`, "other bytes");
    expect(await statusOf(wrong)).toBe(500);
    const stray = job.answer("PUT", `/conversions/${KEY}/files/unheard-of`, "x");
    expect(await statusOf(stray)).toBe(404);
    expect(await statusOf(job.answer("POST", `/conversions/${KEY}`, { ...begin, attempt: 2 }))).toBe(410);
    expect(await statusOf(job.answer("GET", "/conversions/short"))).toBe(400);
    expect(await statusOf(job.answer("POST", `/conversions/${KEY}`, { attempt: 1, files: [] }))).toBe(400);
    const outside = `/jobs/${job.id}/conversions/${KEY}/files/..%2f..%2fstate.db`;
    expect(await statusOf(plane.call("GET", outside, undefined, job.token))).toBe(403);
  });

  it("go when nobody has asked for them in a week, and what was never completed with its container", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const half = (await runningRun(plane)).job;
    await keep(job);
    await half.call("POST", `/conversions/${KEY}`, { attempt: 1, files: announced() });
    await half.answer("PUT", `/conversions/${KEY}/files/${PARTS[0]}`, PARTS[0]);
    const clean = () => plane.json<CleanupReport>("POST", "/cleanup", {});
    expect((await clean()).items).toEqual([]);
    await half.exit("failed", { code: "invalid_input", message: "no" });
    const name = `conversion ${KEY.slice(0, 12)}`;
    expect((await clean()).items).toMatchObject([{ kind: "leftover", name }]);
    plane.clock.advance(6 * DAY_MS);
    await job.call("GET", `/conversions/${KEY}`);
    plane.clock.advance(6 * DAY_MS);
    expect((await clean()).items.filter(({ kind }) => kind === "cache")).toEqual([]);
    plane.clock.advance(2 * DAY_MS);
    expect((await clean()).items).toMatchObject([{ kind: "cache", name }]);
    expect(await plane.control.blobs.list("conversions/")).toEqual([]);
  });
});
