import { mkdtemp, readFile, readdir, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJobClient, type JobClient, type JobClientOptions } from "../../engine/agent.ts";
import type { Pace } from "../../engine/agent/pace.ts";
import { answer, refusal, startFakeControlPlane, type FakeControlPlane } from "./fake-control-plane.ts";

let dir: string;
let plane: FakeControlPlane;
const clients: JobClient[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-agent-"));
  plane = await startFakeControlPlane(dir);
  plane.job = {
    protocol: 1,
    id: "job-1",
    attempt: 3,
    heartbeatEveryMs: 1000,
    threads: 1,
    kind: "serve",
    endpoint: "e",
    model: { name: "spotter/nano" },
  };
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await plane[Symbol.asyncDispose]();
  await rm(dir, { recursive: true });
});

/** Time that passes only by sleeping, and sleeping that takes no time. */
function fastPace(): Pace {
  let now = 0;
  return {
    now: () => now,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        now += ms;
        setImmediate(() => {
          if (signal?.aborted === true) reject(signal.reason as Error);
          else resolve();
        });
      }),
  };
}

async function connect(options: JobClientOptions = {}): Promise<JobClient> {
  const client = createJobClient(plane.env, { pace: fastPace(), ...options });
  clients.push(client);
  await client.getJob();
  return client;
}

function log(message: string) {
  return { type: "log", level: "info", message } as const;
}

describe("job client", () => {
  it("authorises with the job token and refuses another protocol", async () => {
    await connect();
    expect(plane.requests[0]).toEqual({
      method: "GET",
      path: "/jobs/job-1",
      authorization: "Bearer job-token",
    });
    Object.assign(plane.job ?? {}, { protocol: 9 });
    await expect(connect()).rejects.toMatchObject({ code: "version_mismatch" });
  });

  it("keeps the token from other origins", async () => {
    const client = await connect();
    await using other = await startFakeControlPlane(dir);
    other.intercept = (_request, response) => (answer(response, 200, Buffer.from("x")), true);
    await client.download(other.addFile("x", "x"), join(dir, "x"));
    expect(other.requests.map((request) => request.authorization)).toEqual([undefined]);
  });

  it("stores each event once, in order, when answers are lost", async () => {
    const client = await connect();
    let losses = 3;
    plane.loseAnswer = (request) => request.url?.endsWith("/events") === true && losses-- > 0;
    for (let i = 0; i < 450; i++) client.report(log(String(i)));
    await client.flush();
    expect(plane.events.map((event) => event.type === "log" && event.message)).toEqual(
      Array.from({ length: 450 }, (_, i) => String(i)),
    );
    expect(plane.requests.filter((request) => request.path.endsWith("/events")).length).toBe(6);
  });

  it("splits batches by size", async () => {
    const client = await connect();
    for (let i = 0; i < 4; i++) client.report(log("x".repeat(100_000)));
    await client.flush();
    expect(plane.events.length).toBe(4);
    expect(plane.requests.filter((request) => request.path.endsWith("/events")).length).toBe(2);
  });

  it("ends on a stale attempt and says nothing more", async () => {
    const stale: string[] = [];
    const client = await connect({ onStale: (error) => stale.push(error.code) });
    plane.intercept = (_request, response) => (answer(response, 410, refusal("attempt_stale")), true);
    client.report(log("lost"));
    await expect(client.flush()).rejects.toMatchObject({ code: "attempt_stale" });
    expect(stale).toEqual(["attempt_stale"]);
    expect(client.ended.aborted).toBe(true);
    const sent = plane.requests.length;
    await expect(client.judge([row()])).rejects.toMatchObject({ code: "attempt_stale" });
    expect(plane.requests.length).toBe(sent);
  });

  it("buffers while the control plane is away and delivers when it is back", async () => {
    const client = await connect();
    let refusals = 20;
    plane.intercept = (request, response) => {
      if (refusals-- <= 0) return false;
      if (refusals % 2 === 0) request.socket.destroy();
      else answer(response, 503, refusal("capacity", "capacity"));
      return true;
    };
    client.report(log("kept"));
    await client.exit("succeeded");
    expect(plane.events).toEqual([log("kept"), { type: "exit", outcome: "succeeded" }]);
  });

  it("gives up with a coded error after ten minutes", async () => {
    const lost: string[] = [];
    const pace = fastPace();
    const client = await connect({ pace, onLost: (error) => lost.push(error.code) });
    const before = pace.now();
    plane.intercept = (request) => (request.socket.destroy(), true);
    await expect(client.putRollouts(1, [])).rejects.toMatchObject({ code: "daemon_unreachable" });
    expect(lost).toEqual(["daemon_unreachable"]);
    const waitedMs = pace.now() - before;
    expect(waitedMs).toBeGreaterThan(590_000);
    expect(waitedMs).toBeLessThanOrEqual(600_000);
  });

  it("honours Retry-After and gives a plain 500 few chances", async () => {
    const pace = fastPace();
    const client = await connect({ pace });
    const before = pace.now();
    let first = true;
    plane.intercept = (_request, response) => {
      if (!first) return false;
      first = false;
      response.writeHead(429, { "retry-after": "7" }).end();
      return true;
    };
    await client.putRollouts(1, []);
    expect(pace.now() - before).toBe(7000);
    const sent = plane.requests.length;
    plane.intercept = (_request, response) => (
      answer(response, 500, refusal("isolate_crashed", "system")),
      true
    );
    await expect(client.judge([row()])).rejects.toMatchObject({ code: "isolate_crashed" });
    expect(plane.requests.length - sent).toBe(4);
  });

  it("beats on its own and passes a cancel on", async () => {
    const client = await connect();
    client.setProgress({ phase: "train", step: 4 });
    const cancelled = new Promise((resolve) => client.cancelled.addEventListener("abort", resolve));
    plane.cancel = true;
    client.startHeartbeats();
    await cancelled;
    expect(plane.beats[0]).toEqual({ attempt: 3, phase: "train", step: 4 });
  });

  it("refuses verdicts that do not fit the rows", async () => {
    const client = await connect();
    plane.judge = () => [];
    await expect(client.judge([row()])).rejects.toMatchObject({ code: "reward_invalid" });
  });

  it("downloads whole files only", async () => {
    const client = await connect();
    const file = plane.addFile("model/weights.bin", "weights");
    await client.download(file, join(dir, "a", "weights.bin"));
    expect(await readFile(join(dir, "a", "weights.bin"), "utf8")).toBe("weights");
    const damaged = { ...file, sha256: "0".repeat(64) };
    await expect(client.download(damaged, join(dir, "b", "weights.bin"))).rejects.toMatchObject({
      code: "blob_corrupt",
    });
    expect(await readdir(join(dir, "b"))).toEqual([]);
  });

  it("uploads a checkpoint file by file and completes it", async () => {
    const client = await connect();
    await mkdir(join(dir, "c", "model"), { recursive: true });
    await writeFile(join(dir, "c", "model", "weights.bin"), "w".repeat(100_000));
    await writeFile(join(dir, "c", "state.json"), "{}");
    const done = await client.uploadCheckpoint({
      step: 20,
      kind: "full",
      dir: join(dir, "c"),
      metrics: { loss: 1 },
    });
    expect(done.id).toBe("run-1@20");
    const stored = plane.checkpoints.get(20);
    expect(stored?.complete).toBe(true);
    expect(stored?.metrics).toEqual({ loss: 1 });
    expect([...(stored?.files.keys() ?? [])].sort()).toEqual(["model/weights.bin", "state.json"]);
  });
});

function row() {
  return {
    row: {},
    metadata: {},
    variables: {},
    response: { content: "", reasoning: "", toolCalls: [] },
    completion: { tokens: 1, finishReason: "stop" },
    messages: [],
  };
}
