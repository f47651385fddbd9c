import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { TrackerHttp } from "../../../functions/trackers/tracker-http.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { fakeMlflow } from "../../fakes/trackers.ts";

describe("trackers", () => {
  it("write no files into Spotter's own folder, whatever leads there", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { home } = plane.control.config;
    const beside = mkdtempSync(join(tmpdir(), "spotter-tracked-"));
    onTestFinished(() => rmSync(beside, { recursive: true, force: true }));
    symlinkSync(join(home, "blobs"), join(beside, "link"));
    const launch = async (path: string) =>
      plane.call("POST", "/runs", {
        ...(await preparedSpec(plane)),
        trackers: [{ kind: "tensorboard", path }],
      });
    for (const path of [
      home,
      join(home, "blobs"),
      `${beside}/../${home.split("/").at(-1)}/x`,
      join(beside, "link/a"),
    ]) {
      const response = await launch(path);
      expect([path, response.status]).toEqual([path, 400]);
      expect(await response.json()).toMatchObject({
        error: { code: "invalid_input", where: "trackers[0].path" },
      });
    }
    // What only begins alike is another folder.
    expect((await launch(`${home}-of-mine`)).status).toBe(201);
  });

  it.each(["../../evil?x=", "a b", "<script>", "a\u001b[31m", "x".repeat(300)])(
    "take no run id of MLflow into an address that is none: %j",
    async (hostile) => {
      const { http } = fakeMlflow();
      const lying: TrackerHttp = async (request) => {
        const { status, text } = await http(request);
        return { status, text: text.replaceAll(/mlflow-\d+/g, JSON.stringify(hostile).slice(1, -1)) };
      };
      const plane = await testPlane({ onEnd: onTestFinished, trackerHttp: lying });
      const trackers = [{ kind: "mlflow" as const, url: "http://127.0.0.1:5000" }];
      const { id, job } = await runningRun(plane, { trackers });
      await job.report({ type: "run", event: { type: "metrics", step: 1, metrics: { loss: 1 } } });
      for (let second = 0; second < 12; second++) {
        plane.clock.advance(1_000);
        await job.heartbeat();
        await plane.trackers.settle();
      }
      const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
      const told = JSON.stringify(events);
      expect(told).toContain("answered as MLflow does not");
      expect(told).not.toContain("told to MLflow");
      expect(told).not.toContain(JSON.stringify(hostile).slice(1, -1));
    },
  );
});
