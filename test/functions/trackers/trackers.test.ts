import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { TrackerHttp } from "../../../functions/trackers/tracker-http.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { type FakeJob, runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";
import { fakeMlflow, fakeWandb } from "../../fakes/trackers.ts";
import { readEventFile } from "./read-event-file.ts";

const MLFLOW = { kind: "mlflow" as const, url: "http://127.0.0.1:5000" };
const WANDB = {
  kind: "wandb" as const,
  project: "haiku",
  secret: "WANDB_API_KEY",
  url: "http://127.0.0.1:8080",
};

function plane(trackerHttp?: TrackerHttp): Promise<TestPlane> {
  return testPlane({ onEnd: onTestFinished, ...(trackerHttp && { trackerHttp }) });
}

function stepOf(step: number, metrics: Record<string, number> = { loss: 1 / step }) {
  return { type: "run", event: { type: "metrics", step, metrics } };
}

/** Lets some seconds go by, and what is to be told then be told. */
async function pass(each: TestPlane, seconds = 2, job?: FakeJob): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    each.clock.advance(1_000);
    await job?.heartbeat();
    await each.trackers.settle();
  }
}

async function logOf(each: TestPlane, id: string): Promise<string[]> {
  const { events } = await each.json<RunEventPage>("GET", `/runs/${id}/events`);
  return events.flatMap(({ body }) => (body.type === "log" ? [body.message] : []));
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "spotter-tracked-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The event file of a run, wherever it is. */
function fileOf(path: string, id: string): string {
  return join(path, id, readdirSync(join(path, id))[0] ?? "");
}

describe("trackers", () => {
  it("are told nothing unless a run names them", async () => {
    const { http, requests } = fakeMlflow();
    const each = await plane(http);
    const { id, job } = await runningRun(each);
    await job.report(stepOf(1));
    await job.exit("succeeded");
    await pass(each);
    expect(requests).toEqual([]);
    expect((await logOf(each, id)).filter((line) => line.includes("metrics"))).toEqual([]);
  });

  it("write an event file for TensorBoard while the run goes on, and say where", async () => {
    const each = await plane();
    const path = folder();
    const { id, job } = await runningRun(each, { trackers: [{ kind: "tensorboard", path }] });
    await job.report(stepOf(1, { loss: 4, "reward/mean": -2 }));
    await pass(each);
    const read = () => readEventFile(readFileSync(fileOf(path, id))).slice(2);
    expect(read().map(({ step, scalars }) => [step, scalars])).toEqual([[1, { loss: 4, "reward/mean": -2 }]]);
    await job.report(stepOf(2, { loss: 2 }));
    await job.exit("succeeded");
    await pass(each);
    expect(read().map(({ step }) => step)).toEqual([1, 2]);
    expect(await logOf(each, id)).toContain(
      `Its metrics are told to TensorBoard (${path}): tensorboard --logdir ${path}`,
    );
    expect((await each.control.store.queryIndex("trackers", "runs")).items).toEqual([]);
  });

  it("overwrite what a kill left of an event file, and write one anew that somebody removed", async () => {
    const each = await plane();
    const path = folder();
    const { id, job } = await runningRun(each, { trackers: [{ kind: "tensorboard", path }] });
    await job.report(stepOf(1));
    await pass(each);
    const file = fileOf(path, id);
    const before = readFileSync(file);
    // Written, and killed before it was noted.
    writeFileSync(file, Buffer.concat([before, Buffer.from("half a rec")]));
    const second = await each.restart();
    const steps = () =>
      readEventFile(readFileSync(file))
        .slice(2)
        .map(({ step }) => step);
    const append = (step: number) =>
      second.control.store.append(`run/${id}`, [{ atMs: 0, body: stepOf(step).event }]);
    await append(2);
    second.trackers.wake();
    await pass(second);
    expect(steps()).toEqual([1, 2]);
    rmSync(join(path, id), { recursive: true });
    await append(3);
    second.trackers.wake();
    await pass(second, 4);
    expect(existsSync(file)).toBe(true);
    expect(steps()).toEqual([1, 2, 3]);
  });

  it("tell MLflow the settings, each metric once with step and time, and how the run ended", async () => {
    const { http, experiments, runs, requests } = fakeMlflow();
    const each = await plane(http);
    await each.call("PUT", "/secrets/MLFLOW", { value: "me:pass" });
    const tracker = { ...MLFLOW, experiment: "poems", secret: "MLFLOW" };
    const { id, job } = await runningRun(each, { name: "first", tags: ["t"], trackers: [tracker] });
    await job.report(stepOf(1, { "reward/mean": -2, "odd*name": 1 }), stepOf(2, { "reward/mean": -1 }));
    await job.exit("failed", { code: "reward_failed", message: "no" });
    await pass(each, 3);
    expect(experiments).toEqual(["poems"]);
    const [run] = runs;
    expect(run).toMatchObject({ name: "first", status: "FAILED", endMs: expect.any(Number) as number });
    expect(run?.metrics.map(({ key, value, step }) => [key, value, step])).toEqual([
      ["reward/mean", -2, 1],
      ["odd_name", 1, 1],
      ["reward/mean", -1, 2],
    ]);
    expect(run?.params.get("trainer.learningRate")).toBe("0.0002");
    expect(Object.fromEntries(run?.tags ?? [])).toMatchObject({ "spotter.run_id": id, "spotter.tags": "t" });
    expect(requests[0]?.authorization).toBe(`Basic ${Buffer.from("me:pass").toString("base64")}`);
    expect((await logOf(each, id)).at(-1)).toBe(
      "Its metrics are told to MLflow (127.0.0.1:5000): http://127.0.0.1:5000/#/experiments/0/runs/mlflow-0",
    );
  });

  it("double nothing where an answer of MLflow is lost, or the process dies before it is noted", async () => {
    let lost = 0;
    const lose = ({ url }: { url: string }) =>
      /create|log-batch/.test(url) && ++lost % 2 === 1 ? ("lose-answer" as const) : undefined;
    const { http, runs } = fakeMlflow(lose);
    const each = await plane(http);
    const { id, job } = await runningRun(each, { trackers: [MLFLOW] });
    await job.report(stepOf(1), stepOf(2));
    await pass(each, 20, job);
    await job.report(stepOf(3));
    await pass(each, 20, job);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.metrics.map(({ step }) => step)).toEqual([1, 2, 3]);
    // As if it had been killed between the answer and the note.
    const key = { partition: `trackers/${id}`, sort: "0" };
    const noted = (await each.control.store.get<{ told: { seq: number; rows: number } }>(key))?.value;
    const second = await each.restart();
    const killed = { ...noted, told: { seq: 0, rows: 0, last: {} } };
    await second.control.store.put(key, killed);
    await second.control.store.append(`run/${id}`, [{ atMs: 0, body: stepOf(4).event }]);
    second.trackers.wake();
    await pass(second, 20);
    expect(runs[0]?.metrics.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
  });

  it("tell W&B with the granted key: settings, one line a step, the summary, and the end", async () => {
    const { http, runs, requests, lines, summaries, ended } = fakeWandb();
    const each = await plane(http);
    await each.call("PUT", "/secrets/WANDB_API_KEY", { value: "k3y" });
    const { id, job } = await runningRun(each, { name: "first", trackers: [{ ...WANDB, group: "g" }] });
    await job.report(stepOf(1, { loss: 3 }), stepOf(1, { "eval/reward": 0.5 }), stepOf(2, { loss: 2 }));
    await pass(each);
    // Step 2 may have more to come.
    expect(lines(id)).toMatchObject([{ _step: 1, loss: 3, "eval/reward": 0.5 }]);
    await job.exit("succeeded");
    await pass(each);
    expect(lines(id)).toMatchObject([
      { _step: 1 },
      { _step: 2, loss: 2, _timestamp: expect.any(Number) as number },
    ]);
    expect(summaries.get(id)).toEqual({ loss: 2, "eval/reward": 0.5, _step: 2 });
    expect(ended.get(id)).toBe(0);
    expect(runs.get(id)).toMatchObject({ project: "haiku", displayName: "first", groupName: "g" });
    expect(JSON.parse(String(runs.get(id)?.["config"]))).toMatchObject({
      "trainer.learningRate": { value: 0.0002 },
    });
    expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
      new Set([`Basic ${Buffer.from("api:k3y").toString("base64")}`]),
    );
    expect(await logOf(each, id)).toContain(
      `Its metrics are told to W&B (127.0.0.1:8080): http://127.0.0.1:8080/me/haiku/runs/${id}`,
    );
    expect(JSON.stringify(await each.json("GET", `/runs/${id}`))).not.toContain("k3y");
  });

  it("tell W&B the next step, however long the log between two steps is", async () => {
    const { http, lines } = fakeWandb();
    const each = await plane(http);
    await each.call("PUT", "/secrets/WANDB_API_KEY", { value: "k3y" });
    const { id, job } = await runningRun(each, { trackers: [WANDB] });
    const chatter = Array.from({ length: 700 }, (_, line) => ({
      type: "run",
      event: { type: "log", level: "info", message: `line ${line}` },
    }));
    await job.report(stepOf(1), ...chatter, stepOf(2), ...chatter, stepOf(3));
    await pass(each, 4, job);
    expect(lines(id).map(({ _step }) => _step)).toEqual([1, 2]);
    await job.exit("succeeded");
    await pass(each, 4);
    expect(lines(id).map(({ _step }) => _step)).toEqual([1, 2, 3]);
  });

  it("double no line of W&B's history where an answer is lost", async () => {
    let lost = 0;
    const { http, lines } = fakeWandb(({ url }) =>
      url.endsWith("file_stream") && ++lost % 2 === 1 ? "lose-answer" : undefined,
    );
    const each = await plane(http);
    await each.call("PUT", "/secrets/WANDB_API_KEY", { value: "k3y" });
    const { id, job } = await runningRun(each, { trackers: [WANDB] });
    await job.report(...[1, 2, 3].map((step) => stepOf(step)));
    await pass(each, 10, job);
    await job.report(stepOf(4));
    await job.exit("succeeded");
    await pass(each, 30);
    expect(lines(id).map(({ _step }) => _step)).toEqual([1, 2, 3, 4]);
  });

  it("fail no run: it is said once, and told when the tracker is back", async () => {
    let isAway = true;
    const { http, runs } = fakeMlflow(() => (isAway ? 503 : undefined));
    const each = await plane(http);
    const { id, job, state } = await runningRun(each, { trackers: [MLFLOW] });
    await job.report(stepOf(1));
    await pass(each, 30, job);
    const said = (await logOf(each, id)).filter((line) => line.includes("does not take the metrics"));
    expect(said).toEqual([
      expect.stringContaining(
        'MLflow (127.0.0.1:5000) does not take the metrics of this run: answered 503: {"message": "not now"}',
      ),
    ]);
    await job.report(stepOf(2));
    await job.exit("succeeded");
    expect((await state()).state).toBe("succeeded");
    isAway = false;
    await pass(each, 300);
    expect(runs[0]).toMatchObject({ status: "FINISHED" });
    expect(runs[0]?.metrics.map(({ step }) => step)).toEqual([1, 2]);
  });

  it("are given up an hour and more after the run has ended", async () => {
    const { http, requests } = fakeWandb(() => 401);
    const each = await plane(http);
    await each.call("PUT", "/secrets/WANDB_API_KEY", { value: "k3y" });
    const { id, job } = await runningRun(each, { trackers: [WANDB] });
    await pass(each, 1);
    expect((await logOf(each, id)).filter((line) => line.includes("does not take"))).toHaveLength(1);
    await job.exit("succeeded");
    for (let minute = 0; minute < 120; minute++) {
      each.clock.advance(60_000);
      await each.trackers.settle();
    }
    const tries = requests.length;
    expect(tries).toBe(20);
    await pass(each, 5);
    expect(requests).toHaveLength(tries);
    expect((await each.control.store.queryIndex("trackers", "runs")).items).toEqual([]);
  });

  it("are refused with a secret that is not set, a relative folder, and where there is no disk", async () => {
    const each = await plane();
    const refusal = async (tracker: unknown) => {
      const spec = { ...(await preparedSpec(each)), trackers: [tracker] };
      return (await each.call("POST", "/runs", spec)).json();
    };
    expect(await refusal(WANDB)).toMatchObject({
      error: {
        code: "not_found",
        where: "trackers[0].secret",
        hint: "Set it: spotter secret set WANDB_API_KEY",
      },
    });
    expect(await refusal({ kind: "tensorboard", path: "runs" })).toMatchObject({
      error: { code: "invalid_input" },
    });
    delete each.control.eventFiles;
    expect(await refusal({ kind: "tensorboard", path: "/tmp/runs" })).toMatchObject({
      error: { code: "route_unsupported", where: "trackers[0]" },
    });
  });

  it("leave nothing behind with a run that is deleted", async () => {
    const { http } = fakeMlflow();
    const each = await plane(http);
    const { id, job } = await runningRun(each, { trackers: [MLFLOW] });
    await job.exit("succeeded");
    await pass(each);
    expect((await each.control.store.query(`trackers/${id}`)).items).toHaveLength(1);
    await each.json("DELETE", `/runs/${id}`).catch(() => undefined);
    expect((await each.control.store.query(`trackers/${id}`)).items).toEqual([]);
  });
});
