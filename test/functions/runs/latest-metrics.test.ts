import { describe, expect, it, onTestFinished } from "vitest";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import { latestMetrics, MAX_METRICS_BYTES } from "../../../functions/runs/latest-metrics.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

/** Of a user's own, with letters that take more bytes than one. */
const made = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${"é".repeat(150)}${from + at}`, at]));

describe("the latest metrics of a run", () => {
  it("are the last told, or the first of a late one", () => {
    expect(latestMetrics({ loss: 2, lr: 1 }, { loss: 3, own: 4 })).toEqual({ loss: 3, lr: 1, own: 4 });
    expect(latestMetrics({ loss: 2 }, { loss: 3, own: 4 }, true)).toEqual({ loss: 2, own: 4 });
  });

  it("have no more names than there is room for, and known ones go on", () => {
    const full = latestMetrics({ loss: 1 }, made(0, 1_000));
    const bytes = Buffer.byteLength(JSON.stringify(full));
    expect(bytes).toBeGreaterThan(0.9 * MAX_METRICS_BYTES);
    expect(bytes).toBeLessThan(MAX_METRICS_BYTES);
    const next = latestMetrics(full, { ...made(1_000, 2), loss: 2 });
    expect(next).toEqual({ ...full, loss: 2 });
  });

  it("do not keep a run whose metrics have endless names from going on", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    for (let batch = 0; batch < 8; batch++) {
      const metrics = { ...made(200 * batch, 200), loss: batch };
      await job.report({ type: "run", event: { type: "metrics", step: 1, metrics } });
    }
    expect((await plane.json<RunDetail>("GET", `/runs/${id}`)).run.metrics).toMatchObject({ loss: 7 });
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    const told = events.flatMap(({ body }) => (body.type === "metrics" ? Object.keys(body.metrics) : []));
    expect(new Set(told).size).toBe(1_601);
  });
});
