import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { TrackerHttp } from "../../../functions/trackers/tracker-http.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { fakeMlflow, fakeWandb } from "../../fakes/trackers.ts";

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

  const HOSTILE = ["../../evil?x=", "a b", "<script>", "a\u001b[31m", "x".repeat(300)];
  it.each([
    ...HOSTILE.map((hostile) => ["mlflow", hostile] as const),
    ...HOSTILE.map((hostile) => ["wandb", hostile] as const),
  ])("take no name that %s makes up into an address that is none: %j", async (kind, hostile) => {
    const escaped = JSON.stringify(hostile).slice(1, -1);
    const { http } = kind === "mlflow" ? fakeMlflow() : fakeWandb();
    const lying: TrackerHttp = async (request) => {
      const { status, text } = await http(request);
      return { status, text: text.replaceAll(/mlflow-\d+|(?<=")me(?=")/g, () => escaped) };
    };
    const plane = await testPlane({ onEnd: onTestFinished, trackerHttp: lying });
    const url = "http://127.0.0.1:5000";
    await plane.control.secrets.set("KEY", "a-long-secret");
    const tracker = kind === "mlflow" ? { kind, url } : { kind, url, project: "haiku", secret: "KEY" };
    const { id, job } = await runningRun(plane, { trackers: [tracker] });
    await job.report({ type: "run", event: { type: "metrics", step: 1, metrics: { loss: 1 } } });
    for (let second = 0; second < 12; second++) {
      plane.clock.advance(1_000);
      await job.heartbeat();
      await plane.trackers.settle();
    }
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    const told = JSON.stringify(events);
    expect(told).toMatch(/answered as (?:MLflow|W&B) does not/);
    expect(told).not.toContain("Its metrics are told to");
    expect(told).not.toContain(escaped);
  });

  it("say in few words what W&B refuses at length", async () => {
    const http: TrackerHttp = () =>
      Promise.resolve({
        status: 200,
        text: JSON.stringify({ errors: [{ message: "no ".repeat(100_000) }] }),
      });
    const plane = await testPlane({ onEnd: onTestFinished, trackerHttp: http });
    await plane.control.secrets.set("KEY", "a-long-secret");
    const tracker = { kind: "wandb" as const, url: "http://127.0.0.1:5000", project: "haiku", secret: "KEY" };
    const { id } = await runningRun(plane, { trackers: [tracker] });
    await plane.trackers.settle();
    const text = JSON.stringify(await plane.json("GET", `/runs/${id}/events`));
    expect(text).toContain("refused: no no no");
    expect(text.length).toBeLessThan(5_000);
  });
});
