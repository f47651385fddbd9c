import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

const log = (message: string) => ({ type: "log", level: "info", message });

async function messages(plane: TestPlane, id: string): Promise<string[]> {
  const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
  return events.flatMap(({ body }) => (body.type === "log" ? [body.message] : []));
}

function batch(from: number, to: number) {
  const events = [];
  for (let seq = from; seq <= to; seq++) events.push({ seq, body: log(`event ${seq}`) });
  return { attempt: 1, events };
}

describe("job events", () => {
  it("are stored once however often they are sent", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    expect(await job.call("POST", "/events", batch(1, 2))).toEqual({ acknowledged: 2 });
    expect(await job.call("POST", "/events", batch(1, 2))).toEqual({ acknowledged: 2 });
    expect(await job.call("POST", "/events", batch(1, 3))).toEqual({ acknowledged: 3 });
    expect(await job.call("POST", "/events", batch(3, 4))).toEqual({ acknowledged: 4 });
    expect(await messages(plane, id)).toEqual(["event 1", "event 2", "event 3", "event 4"]);
  });

  it.each(["before", "after"])("survive a crash right %s they are appended", async (when) => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const append = plane.control.store.append.bind(plane.control.store);
    plane.control.store.append = async (...args) => {
      if (when === "after") await append(...args);
      throw new Error("crash");
    };
    expect((await job.answer("POST", "/events", batch(1, 3))).status).toBe(500);
    plane.control.store.append = append;
    // The container sends what was not acknowledged, and what happened since.
    expect(await job.call("POST", "/events", batch(1, 5))).toEqual({ acknowledged: 5 });
    expect(await messages(plane, id)).toEqual([1, 2, 3, 4, 5].map((seq) => `event ${seq}`));
  });

  it("are taken from one of two requests that cross", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const answers = await Promise.all([
      job.call<{ acknowledged: number }>("POST", "/events", batch(1, 3)),
      job.call<{ acknowledged: number }>("POST", "/events", batch(1, 3)),
    ]);
    expect(Math.max(...answers.map(({ acknowledged }) => acknowledged))).toBe(3);
    expect(await messages(plane, id)).toEqual(["event 1", "event 2", "event 3"]);
  });

  it("must be numbered without gaps, and well formed", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const gap = { attempt: 1, events: [batch(1, 1).events[0], batch(3, 3).events[0]] };
    expect((await job.answer("POST", "/events", gap)).status).toBe(400);
    const unknown = { attempt: 1, events: [{ seq: 1, body: { type: "nonsense" } }] };
    expect((await job.answer("POST", "/events", unknown)).status).toBe(400);
  });

  it("go on where the last batch ended", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    await job.call("POST", "/events", batch(1, 2));
    for (const seq of [4, Number.MAX_SAFE_INTEGER]) {
      const answer = await job.answer("POST", "/events", batch(seq, seq));
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: {
          code: "invalid_input",
          message: `Events are numbered without gaps: 3 comes next, not ${seq}.`,
        },
      });
    }
    expect(await job.call("POST", "/events", batch(3, 3))).toEqual({ acknowledged: 3 });
    expect(await messages(plane, id)).toEqual(["event 1", "event 2", "event 3"]);
  });

  it("cannot set a run's state: that is the control plane's to tell", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job, state } = await runningRun(plane);
    await job.report({ type: "run", event: { type: "state", state: "succeeded" } });
    await plane.reconciler.settle();
    expect((await state()).state).toBe("running");
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    expect(events.some(({ body }) => body.type === "state" && body.state === "succeeded")).toBe(false);
  });
});
