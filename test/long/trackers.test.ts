/**
 * A second opinion on trackers: TensorBoard's own reader, MLflow's own server, and what W&B's own client sends; and
 * TensorBoard's own writer, whose files the agent of GPU engines reads.
 * `pip install tensorboard mlflow wandb` brings them; SPOTTER_TEST_PYTHON names a Python that has them. Each that is
 * missing skips its test, with the reason on stderr.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createPort } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../sdk/schema/event.ts";
import { trackerHttp, type TrackerRequest } from "../../functions/trackers/tracker-http.ts";
import { testPlane } from "../fakes/control-plane.ts";
import { runningRun } from "../fakes/job.ts";
import { PYTHON_DIR } from "../engine/python/spotter_agent/run-python.ts";
import { fakeWandb } from "../fakes/trackers.ts";

const PYTHON = process.env["SPOTTER_TEST_PYTHON"] || "python3";
const STEPS = [1, 2, 3].map((step) => ({ step, metrics: { loss: 1 / step, "reward/mean": -step } }));
const run = promisify(execFile);

function withPackage(name: string, title: string, test: () => Promise<void>): void {
  try {
    execFileSync(PYTHON, ["-c", `import ${name}`], { stdio: "pipe" });
    it(title, test);
  } catch {
    process.stderr.write(`Skipped: ${title}. ${PYTHON} has no ${name}.\n`);
    it.skip(title);
  }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "spotter-tracked-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A run that reports three steps and ends, told to one tracker. */
async function track(tracker: Record<string, unknown>, onPlane?: (id: string) => Promise<void>) {
  const plane = await testPlane({ onEnd: onTestFinished, trackerHttp });
  await plane.call("PUT", "/secrets/WANDB_API_KEY", { value: "k".repeat(40) });
  const { id, job } = await runningRun(plane, { name: "first", tags: ["t"], trackers: [tracker as never] });
  await job.report(...STEPS.map((event) => ({ type: "run", event: { type: "metrics", ...event } })));
  await job.exit("succeeded");
  for (let pass = 0; pass < 5; pass++) {
    plane.clock.advance(1_000);
    await plane.trackers.settle();
  }
  await onPlane?.(id);
  const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
  expect(events.filter(({ body }) => body.type === "log" && body.level === "warn")).toEqual([]);
  return id;
}

const READ_EVENTS = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
read = EventAccumulator(sys.argv[1]); read.Reload()
tags = read.Tags()
text = read.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
print(json.dumps({"scalars": {tag: [[e.step, e.value] for e in read.Scalars(tag)] for tag in tags["scalars"]}, "text": text}))
`;

withPackage("tensorboard", "TensorBoard reads what is written for it", async () => {
  const path = folder();
  const id = await track({ kind: "tensorboard", path });
  const { stdout } = await run(PYTHON, ["-c", READ_EVENTS, join(path, id)]);
  const read = JSON.parse(stdout) as { scalars: Record<string, [number, number][]>; text: string };
  expect(read.scalars).toEqual({
    loss: STEPS.map(({ step, metrics }) => [step, Math.fround(metrics.loss)]),
    "reward/mean": STEPS.map(({ step, metrics }) => [step, metrics["reward/mean"]]),
  });
  expect(read.text).toContain("| trainer.learningRate | 0.0002 |");
});

const WRITE_EVENTS = `
import sys
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter
writer = EventFileWriter(sys.argv[1])
for step in range(3):
    value = Summary.Value(tag="train/loss", simple_value=1 / (step + 1))
    writer.add_event(Event(step=step, summary=Summary(value=[value])))
    writer.add_event(Event(step=step, summary=scalar_pb("own/score", step / 4)))
writer.close()
`;
const FOLLOW_EVENTS = `
import json, subprocess, sys
from pathlib import Path
from spotter_agent.metric_files import MetricFiles
said = []
folder, *writer = sys.argv[1:]
files = MetricFiles([Path(folder)], said.append)
subprocess.run([*writer, folder], check=True)
print(json.dumps([[list(each)[:3] for _, numbers in files.look(True) for each in numbers], said]))
`;

withPackage("tensorboard", "the agent reads what TensorBoard's own writer writes", async () => {
  const path = folder();
  const env = { ...process.env, PYTHONPATH: PYTHON_DIR, PYTHONDONTWRITEBYTECODE: "1" };
  const writer = [PYTHON, "-c", WRITE_EVENTS];
  const { stdout } = await run("python3", ["-c", FOLLOW_EVENTS, path, ...writer], { env });
  const steps = [0, 1, 2];
  expect(JSON.parse(stdout)).toEqual([
    steps.flatMap((step) => [
      ["train/loss", step, Math.fround(1 / (step + 1))],
      ["own/score", step, step / 4],
    ]),
    [],
  ]);
});

const SEARCH_RUNS = `
import json, sys, mlflow
from mlflow.tracking import MlflowClient
client = MlflowClient(sys.argv[1])
experiment = client.get_experiment_by_name("poems")
runs = client.search_runs([experiment.experiment_id])
print(json.dumps([{"name": run.info.run_name, "status": run.info.status, "params": run.data.params, "tags": run.data.tags,
  "history": {key: [[m.step, m.value] for m in client.get_metric_history(run.info.run_id, key)] for key in run.data.metrics}}
  for run in runs]))
`;

withPackage("mlflow", "MLflow's server takes what is told, once", async () => {
  const home = folder();
  mkdirSync(join(home, "artifacts"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const store = [
    "--backend-store-uri",
    `sqlite:///${home}/mlflow.db`,
    "--default-artifact-root",
    join(home, "artifacts"),
  ];
  const server = spawn(
    PYTHON,
    ["-m", "mlflow", "server", "--host", "127.0.0.1", "--port", String(port), "--workers", "1", ...store],
    { stdio: "ignore", detached: true, cwd: home, env: { ...process.env, MLFLOW_DISABLE_TELEMETRY: "true" } },
  );
  onTestFinished(async () => {
    const exited = once(server, "exit");
    // It starts workers of its own, which are in its group.
    process.kill(-(server.pid ?? 0), "SIGTERM");
    await exited;
  });
  await answers(`${url}/health`);
  const tracker = { kind: "mlflow", url, experiment: "poems" };
  const id = await track(tracker);
  const { stdout } = await run(PYTHON, ["-c", SEARCH_RUNS, url]);
  expect(JSON.parse(stdout)).toEqual([
    {
      name: "first",
      status: "FINISHED",
      params: expect.objectContaining({ "trainer.learningRate": "0.0002" }) as unknown,
      tags: expect.objectContaining({ "spotter.run_id": id, "spotter.rows": "3" }) as unknown,
      history: {
        loss: STEPS.map(({ step, metrics }) => [step, metrics.loss]),
        "reward/mean": STEPS.map(({ step, metrics }) => [step, metrics["reward/mean"]]),
      },
    },
  ]);
});

const LOG_TO_WANDB = `
import json, sys, wandb
run = wandb.init(project="haiku", name="first", id=sys.argv[1], config={"seed": 0}, tags=["t"],
  settings=wandb.Settings(x_disable_stats=True, x_disable_meta=True, disable_git=True, disable_code=True, console="off"))
for each in json.loads(sys.argv[2]): run.log(each["metrics"], step=each["step"])
run.finish()
`;

withPackage("wandb", "W&B is sent what its own client sends", async () => {
  const { url, seen } = await wandbServer();
  const ours = await track({ kind: "wandb", project: "haiku", secret: "WANDB_API_KEY", url });
  const own = sent(seen.splice(0));
  await run(PYTHON, ["-c", LOG_TO_WANDB, "run-01its", JSON.stringify(STEPS)], {
    cwd: folder(),
    env: {
      ...process.env,
      WANDB_BASE_URL: url,
      WANDB_API_KEY: "k".repeat(40),
      WANDB_ERROR_REPORTING: "false",
      WANDB_SILENT: "true",
    },
  });
  const theirs = sent(seen);
  expect(theirs.history.map(plain)).toEqual(own.history.map(plain));
  expect(own.history.map((line) => Object.keys(line).sort())).toEqual(
    theirs.history.map((line) => Object.keys(line).sort()),
  );
  expect(own.end).toEqual(theirs.end);
  expect(own.paths).toEqual([`/files/me/haiku/${ours}/file_stream`]);
  expect(theirs.paths).toEqual(["/files/me/haiku/run-01its/file_stream"]);
  expect(own.authorization).toEqual(theirs.authorization);
  // Each field of our mutation is one that the client knows.
  for (const input of own.inputs) expect(theirs.inputs).toContain(input);
});

function plain({ _timestamp, _runtime, ...line }: Record<string, number>): Record<string, number> {
  return line;
}

/** What was sent, apart from how it was cut into calls. */
function sent(requests: readonly TrackerRequest[]) {
  const bodies = requests.map(({ json }) => json as Record<string, unknown> & { query?: string });
  const streamed = requests.filter(({ url }) => url.endsWith("/file_stream"));
  const files = streamed.map(
    ({ json }) => (json as { files?: Record<string, { content: string[] }> }).files ?? {},
  );
  const mutations = bodies.map(({ query = "" }) => query).filter((query) => query.includes("upsertBucket"));
  const [, input = ""] = /input:\s*\{([^}]*)\}/.exec(mutations[0] ?? "") ?? [];
  return {
    history: files.flatMap((each) =>
      (each["wandb-history.jsonl"]?.content ?? []).map((line) => JSON.parse(line) as Record<string, number>),
    ),
    end: bodies
      .filter(({ complete }) => complete === true)
      .map(({ complete, exitcode }) => ({ complete, exitcode })),
    paths: [...new Set(streamed.map(({ url }) => new URL(url).pathname))],
    authorization: [...new Set(streamed.map(({ authorization }) => authorization))],
    inputs: input.split(",").map((field) => field.replaceAll(/\s/g, "")),
  };
}

/** The fake of the quick tests behind a port, with the few more answers that the client asks for. */
async function wandbServer(): Promise<{ url: string; seen: TrackerRequest[] }> {
  const seen: TrackerRequest[] = [];
  const { http } = fakeWandb();
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const { authorization } = request.headers;
      const asked: TrackerRequest = {
        method: "POST",
        url: `http://127.0.0.1${request.url}`,
        authorization,
        json: text.startsWith("{") ? JSON.parse(text) : {},
      };
      seen.push(asked);
      const { query = "" } = asked.json as { query?: string };
      const answer = query.includes("upsertBucket") || request.url?.endsWith("/file_stream") === true;
      const files = { createRunFiles: { runID: "b64", uploadHeaders: [], files: [] } };
      const viewer = { viewer: { id: "u", entity: "me", username: "me", flags: "{}", teams: { edges: [] } } };
      const data = query.includes("createRunFiles") ? files : query.includes("viewer") ? viewer : {};
      const body = answer ? (await http(asked)).text : JSON.stringify({ data });
      response.setHeader("content-type", "application/json");
      response.end(body);
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 360; tries++) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await sleep(500);
  }
  throw new Error(`${url} does not answer`);
}

async function freePort(): Promise<number> {
  const server = createPort().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
