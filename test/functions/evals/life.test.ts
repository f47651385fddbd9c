import { describe, expect, it, onTestFinished } from "vitest";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { EvalRow } from "../../../sdk/schema/eval-row.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, type FakeJob } from "../../fakes/job.ts";
import { fakeUpstream } from "../../fakes/upstream.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

async function launched(): Promise<{
  plane: TestPlane;
  id: string;
  job: FakeJob;
  record: () => Promise<EvalRecord>;
}> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { dataset, rewards } = await preparedSpec(plane);
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  const asked = { endpoint: "base", dataset, rewards, samplesPerRow: 2 };
  const { id } = await plane.json<EvalRecord>("POST", "/evals", asked);
  await plane.reconciler.settle();
  const job = fakeJob(plane, `eval-${id}-a1`, 1);
  await job.heartbeat();
  await plane.reconciler.settle();
  return { plane, id, job, record: () => plane.json<EvalRecord>("GET", `/evals/${id}`) };
}

function row(index: number, sample: number, total: number | undefined): EvalRow {
  const verdict: EvalRow["verdict"] =
    total === undefined
      ? { scores: {}, errors: { score: { code: "reward_failed", message: "threw" } } }
      : { total, scores: { score: { score: total, weight: 1, precondition: false } }, errors: {} };
  return { row: index, sample, input: {}, text: "t", finishReason: "stop", tokens: 3, verdict };
}

describe("an eval", () => {
  it("gathers rows, and ends with mean and interval over what was judged", async () => {
    const { plane, id, job, record } = await launched();
    expect(await job.call<JobSpec>("GET", "")).toMatchObject({
      ...{ kind: "eval", evalId: id, model: "base", chatUrl: "http://127.0.0.1:7717/v1" },
    });
    await job.report({ type: "eval-rows", total: 6, rows: [row(0, 0, 1), row(0, 1, 1), row(1, 0, 3)] });
    expect(await record()).toMatchObject({ state: "running", done: 3, total: 6 });
    await job.report({
      type: "eval-rows",
      total: 6,
      rows: [row(1, 1, 3), row(2, 0, 2), row(2, 1, undefined)],
    });
    await job.exit("succeeded");
    const ended = await record();
    expect(ended).toMatchObject({ state: "succeeded", done: 6, missing: 1, score: { mean: 2, n: 5 } });
    expect(ended.scores["score"]).toEqual(ended.score);
    expect(ended.score?.low).toBeLessThan(2);
    const first = await plane.json<{ items: EvalRow[]; next?: string }>("GET", `/evals/${id}/rows?limit=4`);
    const second = await plane.json<{ items: EvalRow[]; next?: string }>(
      "GET",
      `/evals/${id}/rows?after=${first.next ?? ""}&limit=4`,
    );
    expect([...first.items, ...second.items]).toHaveLength(6);
    expect(second.next).toBeUndefined();
  });

  it("fails with the first cause when nothing could be judged", async () => {
    const { job, record } = await launched();
    await job.report({ type: "eval-rows", total: 1, rows: [row(0, 0, undefined)] });
    await job.exit("succeeded");
    expect(await record()).toMatchObject({
      state: "failed",
      failure: { code: "reward_failed", message: expect.stringContaining("threw") as string },
    });
  });

  it("goes on where its container was lost: no row twice, none left out", async () => {
    const { plane, id, job, record } = await launched();
    await job.report({ type: "eval-rows", total: 6, rows: [row(0, 0, 1), row(2, 0, 3), row(0, 1, 1)] });
    plane.containers.set(job.id, { state: "exited", exitCode: 1, reason: "error", logTail: [] });
    await plane.reconciler.settle();
    expect(await record()).toMatchObject({ state: "queued", failure: { code: "container_failed" } });
    plane.clock.advance(1_000);
    await plane.reconciler.settle();
    expect(await record()).toMatchObject({ state: "starting", attempt: 2, done: 3 });
    expect((await record()).failure).toBeUndefined();
    const next = fakeJob(plane, `eval-${id}-a2`, 2);
    expect(await next.call<JobSpec>("GET", "")).toMatchObject({
      done: [
        [0, 2],
        [4, 5],
      ],
    });
    await next.report({ type: "eval-rows", total: 6, rows: [row(1, 0, 2), row(1, 1, 2), row(2, 1, 3)] });
    expect(await record()).toMatchObject({ done: 6 });
    await next.exit("succeeded");
    expect(await record()).toMatchObject({ state: "succeeded", done: 6, score: { mean: 2, n: 6 } });
    const { items } = await plane.json<{ items: EvalRow[] }>("GET", `/evals/${id}/rows`);
    expect(items.map((each) => each.row * 2 + each.sample).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("counts a row once that a container told which was given up and one that took over", async () => {
    const { plane, id, job, record } = await launched();
    await job.report({ type: "eval-rows", total: 6, rows: [row(0, 0, 1), row(1, 0, 2)] });
    // As if the first batch had been on its way into the store when the next container asked what is left.
    await job.report({ type: "eval-rows", total: 6, rows: [row(1, 0, 9)] });
    await job.exit("succeeded");
    expect(await record()).toMatchObject({ done: 2, score: { mean: 1.5, n: 2 } });
    expect(await plane.json("GET", `/evals/${id}/rows`)).toMatchObject({ items: { length: 3 } });
  });

  it("is cancelled, and its rows are kept", async () => {
    const { plane, id, job, record } = await launched();
    await job.report({ type: "eval-rows", total: 6, rows: [row(0, 0, 1)] });
    await plane.json("POST", `/evals/${id}/cancel`);
    expect(await job.heartbeat()).toEqual({ cancel: true });
    await job.exit("cancelled");
    expect(await record()).toMatchObject({ state: "cancelled", done: 1, score: { mean: 1, n: 1 } });
  });

  it("may talk to its own endpoint with its token, and to no other (73)", async () => {
    const { plane, job } = await launched();
    const upstream = await fakeUpstream(onTestFinished, (response) => void response.end("{}"));
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "other" });
    await plane.reconciler.settle();
    for (const name of ["base", "other"]) {
      const serve = fakeJob(plane, `serve-${name}-r1-1`, 1);
      await serve.heartbeat();
      await serve.report({ type: "ready", address: upstream.address });
      await plane.reconciler.settle();
    }
    const chat = async (model: string) =>
      (
        await plane.call(
          "POST",
          "/v1/chat/completions",
          { model, messages: [{ role: "user", content: "hi" }] },
          job.token,
        )
      ).status;
    expect(await chat("base")).toBe(200);
    expect(await chat("other")).toBe(403);
    await job.exit("succeeded");
    expect(await chat("base")).toBe(401);
  });

  it("needs an endpoint that runs", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { dataset, rewards } = await preparedSpec(plane);
    const missing = await plane.call("POST", "/evals", { endpoint: "nope", dataset, rewards });
    expect(await missing.json()).toMatchObject({ error: { code: "model_not_found", where: "endpoint" } });
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
    await plane.json("DELETE", "/endpoints/base");
    const stopped = await plane.call("POST", "/evals", { endpoint: "base", dataset, rewards });
    expect(stopped.status).toBe(409);
  });
});
