import { describe, expect, it, onTestFinished } from "vitest";
import { runEvalMetrics } from "../../../functions/evals/run-evals.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { EvalRow } from "../../../sdk/schema/eval-row.ts";
import type { JobSpec } from "../../../sdk/schema/job.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { RunEvent } from "../../../sdk/schema/event.ts";
import type { RunEval } from "../../../sdk/schema/run-eval.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

/** An eval that somebody created, with pass@1 and pass@4 of four answers to each of three rows. */
async function created(more: object = {}): Promise<{ plane: TestPlane; source: EvalRecord }> {
  const plane = await testPlane({ onEnd: onTestFinished });
  const { dataset, rewards } = await preparedSpec(plane);
  await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base" });
  const passAt = [{ k: 1 }, { k: 4 }];
  const asked = { endpoint: "base", dataset, rewards, samplesPerRow: 4, passAt, ...more };
  return { plane, source: await plane.json<EvalRecord>("POST", "/evals", asked) };
}

/** Answers to every row, of which so many of each row are right. */
function answers(right: number, perRow = 4): EvalRow[] {
  return [0, 1, 2].flatMap((row) =>
    Array.from({ length: perRow }, (_, sample): EvalRow => {
      const verdict = { total: sample < right ? 1 : 0, scores: {}, errors: {} };
      return { row, sample, input: {}, text: "", finishReason: "stop", tokens: 1, verdict };
    }),
  );
}

/** The container of a run's eval, told to play and to end with these answers. */
async function evaluate(plane: TestPlane, jobId: string, rows: EvalRow[]): Promise<void> {
  const job = fakeJob(plane, jobId, 1);
  await job.heartbeat();
  await job.report({ type: "eval-rows", rows, total: rows.length });
  await job.exit("succeeded");
}

async function eventsOf(plane: TestPlane, id: string): Promise<RunEvent["body"][]> {
  const { events } = await plane.json<{ events: RunEvent[] }>("GET", `/runs/${id}/events?after=0&waitMs=0`);
  return events.map((event) => event.body ?? event);
}

describe("a run-dependent eval", () => {
  it("evaluates the fresh checkpoint with the files of its source, in a container of its own (A26-A32 c, d, e, f)", async () => {
    const { plane, source } = await created();
    const evals: RunEval[] = [{ evalId: source.id, everySteps: 2, name: "MATH" }];
    const { id, job, state } = await runningRun(plane, { evals });
    const before = (await plane.json<{ items: EvalRecord[] }>("GET", "/evals")).items;
    await job.save(1);
    await plane.reconciler.settle();
    const launched = () =>
      plane.containers.launched.map(({ jobId }) => jobId).filter((each) => each.includes("-e0-"));
    expect(launched()).toEqual([]);
    await job.save(2);
    await plane.reconciler.settle();
    const jobId = `eval-${id}-e0-s2-a1`;
    expect(launched()).toEqual([jobId]);
    const told = await fakeJob(plane, jobId, 1).call<JobSpec>("GET", "");
    expect(told).toMatchObject({
      kind: "eval",
      dataset: { sha256: source.spec.dataset.sha256 },
      spec: { rewards: source.spec.rewards, samplesPerRow: 4, passAt: [{ k: 1 }, { k: 4 }] },
      weights: { checkpoint: { id: `${id}@2`, files: [{ path: "model/w.safetensors" }] } },
    });
    expect(told).not.toHaveProperty("chatUrl");
    await evaluate(plane, jobId, answers(1));
    expect((await state()).metrics).toMatchObject({ MATH_pass1: 0.25, MATH_pass4: 1 });
    expect(await eventsOf(plane, id)).toContainEqual({
      ...{ type: "metrics", step: 2, metrics: { MATH_pass1: 0.25, MATH_pass4: 1 } },
    });
    expect((await plane.json<{ items: EvalRecord[] }>("GET", "/evals")).items).toEqual(before);
    expect((await plane.call("GET", `/evals/${id}-e0-s2`)).status).toBe(404);
  });

  it("logs under the first 8 characters of the id, and measures what is changed (A26-A32 a, f)", async () => {
    const { plane, source } = await created();
    const passAt = [
      { k: 1, enabled: false },
      { k: 8, enabled: true, temperature: 0.5 },
    ];
    const { id, job, state } = await runningRun(plane, {
      evals: [{ evalId: source.id, everySteps: 1, passAt }],
    });
    await job.save(1);
    await plane.reconciler.settle();
    const jobId = `eval-${id}-e0-s1-a1`;
    // Four answers at the eval's own temperature, and eight at that of k = 8.
    expect(await fakeJob(plane, jobId, 1).call("GET", "")).toMatchObject({
      spec: { passAt: [{ k: 4 }, { k: 8, temperature: 0.5 }], samplesPerRow: 8 },
    });
    await evaluate(plane, jobId, answers(1, 16));
    const label = source.id.slice(0, 8);
    expect(Object.keys((await state()).metrics).sort()).toEqual([`${label}_pass4`, `${label}_pass8`]);
  });

  it("runs beside others, and the run ends after the last of them (A26-A32 h)", async () => {
    const { plane, source } = await created();
    const evals: RunEval[] = [
      { evalId: source.id, everySteps: 2, name: "MATH" },
      { evalId: source.id, everySteps: 4, name: "GSM8K" },
    ];
    const { id, job, state } = await runningRun(plane, { evals });
    for (const step of [2, 4]) {
      await job.save(step);
      await plane.reconciler.settle();
    }
    await job.exit("succeeded");
    expect((await state()).state).not.toBe("succeeded");
    const launched = () =>
      plane.containers.launched.map(({ jobId }) => jobId).filter((each) => each.includes("-s4-"));
    // The same eval of the next checkpoint waits: slow ones must not pile up. Another eval does not.
    expect(launched()).toEqual([`eval-${id}-e1-s4-a1`]);
    await evaluate(plane, `eval-${id}-e0-s2-a1`, answers(0));
    expect(launched()).toContain(`eval-${id}-e0-s4-a1`);
    await evaluate(plane, `eval-${id}-e0-s4-a1`, answers(2));
    expect((await state()).metrics).toMatchObject({ MATH_pass1: 0.5 });
    await evaluate(plane, `eval-${id}-e1-s4-a1`, answers(4));
    expect(await state()).toMatchObject({ state: "succeeded", metrics: { MATH_pass1: 0.5, GSM8K_pass1: 1 } });
    const logged = (await eventsOf(plane, id)).filter(({ type }) => type === "metrics");
    expect(logged).toContainEqual(
      expect.objectContaining({ step: 2, metrics: { MATH_pass1: 0, MATH_pass4: 0 } }),
    );
  });

  it("of an unknown id is refused before launch, all of them at once (A26-A32 g)", async () => {
    const { plane, source } = await created();
    const evals = [
      { evalId: "nope", everySteps: 1 },
      { evalId: source.id, everySteps: 1 },
      { evalId: "no", everySteps: 1 },
    ];
    const response = await plane.call("POST", "/runs", { ...(await preparedSpec(plane)), evals });
    expect(await response.json()).toMatchObject({
      error: {
        code: "not_found",
        message: expect.stringMatching(
          /evals\.0\.evalId: there is no eval nope\n.*evals\.2\.evalId.* no$/,
        ) as string,
        where: "evals.0.evalId",
      },
    });
    expect((await plane.json<{ items: unknown[] }>("GET", "/runs")).items).toEqual([]);
  });

  it("is refused where the source asks for what only an endpoint honours", async () => {
    const { plane, source } = await created({ chatOptions: { stop: ["\n"], max_tokens: 4 } });
    const evals = [{ evalId: source.id, everySteps: 1 }];
    const response = await plane.call("POST", "/runs", { ...(await preparedSpec(plane)), evals });
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_input", where: "evals.0.evalId" },
    });
  });

  it("that fails is told in the log of the run, which goes on", async () => {
    const { plane, source } = await created();
    const { id, job, state } = await runningRun(plane, {
      evals: [{ evalId: source.id, everySteps: 1, name: "X" }],
    });
    await job.save(1);
    await plane.reconciler.settle();
    const failed = fakeJob(plane, `eval-${id}-e0-s1-a1`, 1);
    await failed.heartbeat();
    await failed.exit("failed", { code: "reward_failed", message: "it threw" });
    expect(await eventsOf(plane, id)).toContainEqual(
      expect.objectContaining({
        type: "log",
        level: "warn",
        message: "Evaluation X of step 1 has no result (reward_failed: it threw)",
      }),
    );
    expect((await state()).state).toBe("running");
  });

  it("ends with a run that is cancelled, and goes with one that is deleted", async () => {
    const { plane, source } = await created();
    const { id, job } = await runningRun(plane, { evals: [{ evalId: source.id, everySteps: 1 }] });
    await job.save(1);
    await plane.reconciler.settle();
    const mine = fakeJob(plane, `eval-${id}-e0-s1-a1`, 1);
    await mine.heartbeat();
    await plane.json("POST", `/runs/${id}/cancel`);
    await job.exit("cancelled");
    expect((await plane.json<RunDetail>("GET", `/runs/${id}`)).run.state).toBe("cancelled");
    expect(await mine.heartbeat()).toEqual({ cancel: true });
    await mine.exit("cancelled");
    expect((await plane.call("DELETE", `/runs/${id}`)).ok).toBe(true);
    expect((await plane.control.store.query(`run-evals/${id}`, {})).items).toEqual([]);
    expect(await plane.control.store.get({ partition: "jobs", sort: mine.id })).toBeUndefined();
  });

  it("does not hold up a run that is cancelled while it waits for it", async () => {
    const { plane, source } = await created();
    const { id, job, state } = await runningRun(plane, { evals: [{ evalId: source.id, everySteps: 1 }] });
    await job.save(1);
    await job.exit("succeeded");
    expect((await state()).state).not.toBe("succeeded");
    await plane.json("POST", `/runs/${id}/cancel`);
    await plane.reconciler.settle();
    expect((await state()).state).toBe("succeeded");
    expect(plane.containers.stopped).toContain(`eval-${id}-e0-s1-a1`);
  });

  it("without pass@k logs its mean", () => {
    const interval = (mean: number) => ({ mean, low: 0, high: 1, n: 3 });
    expect(runEvalMetrics("X", { score: interval(-2), passes: {} })).toEqual({ X_reward: -2 });
    expect(runEvalMetrics("X", { score: interval(1), passes: { 1: interval(0.5) } })).toEqual({
      X_pass1: 0.5,
    });
  });
});
