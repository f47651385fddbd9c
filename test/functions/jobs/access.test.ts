import { describe, expect, it, onTestFinished } from "vitest";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { ADMIN_KEY, testPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { DATASET, DATASET_SHA, preparedSpec } from "../../fakes/run-spec.ts";

describe("a job token", () => {
  it("opens its own job and nothing else", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const other = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
    await plane.reconciler.settle();
    const otherJob = fakeJob(plane, `train-${other.run.id}-a1`, 1);
    const status = async (path: string, token: string) =>
      (await plane.call("GET", path, undefined, token)).status;
    expect(await status(`/jobs/${job.id}`, job.token)).toBe(200);
    expect(await status(`/jobs/${otherJob.id}`, job.token)).toBe(403);
    expect(await status(`/runs/${id}`, job.token)).toBe(401);
    expect(await status("/v1/models", job.token)).toBe(401);
    expect(await status(`/jobs/${job.id}`, ADMIN_KEY)).toBe(401);
    expect(await status(`/jobs/${job.id}`, `${job.token}0`)).toBe(401);
  });

  it("is stored as a hash only", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const stored = await plane.control.store.get({ partition: "jobs", sort: job.id });
    expect(JSON.stringify(stored)).not.toContain(job.token.split(".").at(-1));
  });

  it("reads the files that the job's spec lists, in parts too", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const spec = await job.call<Extract<JobSpec, { kind: "train" }>>("GET", "");
    const path = new URL(spec.dataset.url).pathname;
    expect(await (await plane.call("GET", path, undefined, job.token)).text()).toBe(DATASET);
    const headers = { authorization: `Bearer ${job.token}`, range: "bytes=2-7" };
    const part = await plane.app.request(path, { headers });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(`bytes 2-7/${DATASET.length}`);
    expect(await part.text()).toBe(DATASET.slice(2, 8));
    const none = await plane.app.request(path, { headers: { ...headers, range: "bytes=99999-" } });
    expect(none.status).toBe(416);
    const stray = path.replace(DATASET_SHA, "0".repeat(64));
    expect((await plane.call("GET", stray, undefined, job.token)).status).toBe(403);
    const upwards = `/jobs/${job.id}/files/datasets/..%2f..%2fsecrets.json`;
    expect((await plane.call("GET", upwards, undefined, job.token)).status).toBe(403);
  });
});
