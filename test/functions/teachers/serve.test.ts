import { describe, expect, it, onTestFinished } from "vitest";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { releaseTeachers, serveTeacher } from "../../../functions/teachers/serve.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeEngine } from "../../fakes/engine/engine.ts";
import { fakeJob, runningRun } from "../../fakes/job.ts";
import { listening } from "../../fakes/listening.ts";

const NANO = { name: "spotter/nano" };

/** What makes the run of `runningRun` learn from a teacher. */
function distilled(teacher: RunSpecInput["teacher"]): Partial<RunSpecInput> {
  return { kind: "distill", algorithm: { kind: "distill" }, rewards: undefined, teacher };
}

function endpointOf(plane: TestPlane, name: string): Promise<Endpoint> {
  return plane.json<Endpoint>("GET", `/endpoints/${name}`);
}

async function names(plane: TestPlane): Promise<string[]> {
  const { items } = await plane.json<{ items: Endpoint[] }>("GET", "/endpoints");
  return items.map(({ name }) => name);
}

async function settle(plane: TestPlane): Promise<void> {
  plane.reconciler.wake();
  await plane.reconciler.settle();
}

describe("the teacher of a run", () => {
  it("is served from the first attempt on and stopped when the run has ended (A37)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane, distilled({ model: NANO }));
    const name = `teacher-${id}`;
    expect(await endpointOf(plane, name)).toMatchObject({ model: NANO, desired: 1, public: false });
    expect(plane.containers.launched.map(({ jobId }) => jobId)).toContain(`serve-${name}-r1-1`);
    await job.exit("succeeded");
    await settle(plane);
    expect(await endpointOf(plane, name)).toMatchObject({ desired: 0 });
    expect(plane.containers.stopped).toContain(`serve-${name}-r1-1`);
    expect((await plane.control.store.query("teachers")).items).toEqual([]);
  });

  it("is stopped although the control plane was killed before it could (A37)", async () => {
    const first = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(first, distilled({ model: NANO }));
    const second = await first.restart();
    await fakeJob(second, job.id, 1).exit("failed", { code: "numeric_failure", message: "NaN" });
    const third = await second.restart();
    await settle(third);
    expect(await endpointOf(third, `teacher-${id}`)).toMatchObject({ desired: 0 });
    // Written down, and killed before it was launched.
    const owned = { v: 1, runId: "no-run", endpoint: "teacher-no-run" };
    await third.control.store.put({ partition: "teachers", sort: "no-run" }, owned);
    await settle(third);
    expect((await third.control.store.query("teachers")).items).toEqual([]);
    expect(third.complaints).toEqual([]);
  });

  it("is one endpoint, and none in the end, at whatever write the control plane dies (A37)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    // Nobody else looks meanwhile.
    await plane.reconciler.close();
    const { store } = plane.control;
    const put = store.put.bind(store);
    const remove = store.delete.bind(store);
    const die = () => Promise.reject(new Error("the process is dead"));
    const teacher = { model: NANO, agentic: false };
    for (const dieAt of [1, 2, 3]) {
      const id = `crash-${dieAt}`;
      let writes = 0;
      store.put = (...args) => (++writes >= dieAt ? die() : put(...args));
      await serveTeacher(plane.control, id, teacher).catch(() => undefined);
      store.put = put;
      expect(await serveTeacher(plane.control, id, teacher)).toBe(`teacher-${id}`);
      expect((await endpointOf(plane, `teacher-${id}`)).desired).toBe(1);
      store.delete = die;
      await expect(releaseTeachers(plane.control)).rejects.toThrow("the process is dead");
      store.delete = remove;
      await releaseTeachers(plane.control);
      expect((await endpointOf(plane, `teacher-${id}`)).desired).toBe(0);
      expect((await store.query("teachers")).items).toEqual([]);
    }
    expect(await names(plane)).toEqual(["teacher-crash-1", "teacher-crash-2", "teacher-crash-3"]);
  });

  it("goes while its run is paused, and comes back with it", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane, distilled({ model: NANO }));
    await plane.json("POST", `/runs/${id}/pause`);
    await job.exit("cancelled");
    await settle(plane);
    expect((await endpointOf(plane, `teacher-${id}`)).desired).toBe(0);
    await plane.json("POST", `/runs/${id}/resume`);
    await settle(plane);
    expect((await endpointOf(plane, `teacher-${id}`)).desired).toBe(1);
  });

  it("is an endpoint of the same weights where there is one, which stays", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    await plane.json("POST", "/endpoints", { model: NANO, name: "mine" });
    const { job } = await runningRun(plane, distilled({ model: NANO }));
    expect(await names(plane)).toEqual(["mine"]);
    await job.exit("succeeded");
    await settle(plane);
    expect((await endpointOf(plane, "mine")).desired).toBe(1);
  });

  it("is a checkpoint of an earlier run, which stays as long as it teaches", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const before = await runningRun(plane);
    const checkpoint = await before.job.save(4);
    await before.job.exit("succeeded");
    const { id } = await runningRun(plane, distilled({ checkpoint: checkpoint.id }));
    expect(await endpointOf(plane, `teacher-${id}`)).toMatchObject({
      checkpoint: checkpoint.id,
      model: NANO,
    });
    expect((await plane.call("DELETE", `/checkpoints/${encodeURIComponent(checkpoint.id)}`)).status).toBe(
      409,
    );
  });

  it("is refused at the launch where it is nobody, or two", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const wrong: [RunSpecInput["teacher"], string][] = [
      [{ endpoint: "nobody" }, "model_not_found"],
      [{ checkpoint: "nobody@3" }, "checkpoint_not_found"],
      [{ model: { name: "acme/none" } }, "model_not_found"],
      [{ url: { baseUrl: "http://127.0.0.1:9/v1", model: "m", secret: "NONE" } }, "not_found"],
      [{ model: NANO, endpoint: "both" }, "invalid_input"],
      [{}, "invalid_input"],
    ];
    for (const [teacher, code] of wrong)
      await expect(runningRun(plane, distilled(teacher)), JSON.stringify(teacher)).rejects.toThrow(code);
  });
});

describe("a container's way to its teacher", () => {
  const question = { kind: "score", sequences: [[5, 6]] };
  const graded = JSON.stringify({
    choices: [{ index: 0, logprobs: { tokens: ["", ""], token_logprobs: [null, -2] } }],
    usage: { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
  });

  it("is the gateway, with the job's token, which opens no other endpoint", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const base = await listening(plane, onTestFinished);
    plane.control.config.publicUrl = () => base;
    const engine = await fakeEngine(onTestFinished, () => ({ type: "application/json", steps: [graded] }));
    await plane.json("POST", "/endpoints", { model: { name: "/models/other" }, name: "other" });
    const { id, job } = await runningRun(plane, distilled({ model: NANO }));
    const replica = fakeJob(plane, `serve-teacher-${id}-r1-1`, 1);
    await replica.heartbeat();
    await replica.report({ type: "ready", address: engine.address });
    await plane.reconciler.settle();
    const reply = await job.call("POST", "/teacher", { attempt: 1, question });
    expect(reply).toEqual({ sequences: [{ ids: [5, 6], logprobs: [0, -2] }] });
    expect(engine.requests[0]).toMatchObject({ path: "/v1/completions", body: { model: `teacher-${id}` } });
    const body = { model: "other", prompt: [1], max_tokens: 1 };
    expect((await plane.call("POST", "/v1/completions", body, job.token)).status).toBe(403);
    expect((await job.answer("POST", "/teacher", { attempt: 0, question })).status).toBe(410);
  });

  it("is closed to a run without one", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const refused = await job.answer("POST", "/teacher", { attempt: 1, question });
    expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([
      403,
      { code: "forbidden" },
    ]);
    expect((await plane.call("POST", "/v1/completions", { model: "x", prompt: "y" }, job.token)).status).toBe(
      401,
    );
  });

  it("leads outside with the key of a stored secret, which the container never has", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const engine = await fakeEngine(onTestFinished, () => ({ type: "application/json", steps: [graded] }));
    await plane.call("PUT", "/secrets/TEACHER_KEY", { value: "sk-outside" });
    const url = { baseUrl: `http://${engine.address}/v1`, model: "big", secret: "TEACHER_KEY" };
    const { id, job } = await runningRun(plane, distilled({ url }));
    await job.call("POST", "/teacher", { attempt: 1, question });
    expect(engine.requests[0]).toMatchObject({
      headers: { authorization: "Bearer sk-outside" },
      body: { model: "big" },
    });
    const detail = await plane.json<RunDetail>("GET", `/runs/${id}`);
    expect(JSON.stringify([await job.call("GET", ""), detail])).not.toContain("sk-outside");
    expect(await names(plane)).toEqual([]);
  });
});
