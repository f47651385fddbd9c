import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../sdk/schema/event.ts";
import { Run } from "../../sdk/run.ts";
import { fakeServer, sendError, type FakeServer } from "./fake-server.ts";
import { checkpointRecord, runDetailOf, runRecord } from "./records.ts";

function event(seq: number, body: RunEvent["body"]): RunEvent {
  return { seq, atMs: seq, body };
}

const log = (seq: number) => event(seq, { type: "log", level: "info", message: `line ${seq}` });

async function seqs(run: Run, after?: number): Promise<number[]> {
  const all: number[] = [];
  for await (const { seq } of run.events({ after })) all.push(seq);
  return all;
}

function runOn({ client }: FakeServer, over = {}): Run {
  return new Run(client, runDetailOf(over));
}

describe("run.events", () => {
  it("follows long polls from where the last one ended until all is said", async () => {
    const server = await fakeServer({
      "GET /runs/run1/events": ({ query }) =>
        query.after === "2"
          ? { events: [log(3)], next: 3, done: true }
          : { events: [log(1), log(2)], next: 2, done: false },
    });
    expect(await seqs(runOn(server))).toEqual([1, 2, 3]);
    expect(server.requests[0]?.query).toMatchObject({ after: "0", waitMs: "20000" });
    expect(await seqs(runOn(server), 2)).toEqual([3]);
  });

  it("goes on after an outage without losing or repeating anything", async () => {
    let polls = 0;
    const server = await fakeServer({
      "GET /runs/run1/events": ({ query }, response) => {
        polls++;
        if (polls === 1) return { events: [log(1)], next: 1, done: false };
        if (polls < 8)
          return polls % 2 ? void response.socket?.destroy() : sendError(response, 503, "capacity", "Later.");
        return { events: [log(Number(query.after) + 1)], next: 2, done: true };
      },
    });
    expect(await seqs(runOn(server))).toEqual([1, 2]);
  });

  it("throws what no waiting mends", async () => {
    const server = await fakeServer();
    await expect(seqs(runOn(server))).rejects.toMatchObject({ code: "not_found" });
  });

  it("ends when the signal aborts", async () => {
    const server = await fakeServer({ "GET /runs/run1/events": () => undefined });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 10);
    const read = async () => {
      for await (const each of runOn(server).events({ signal: controller.signal }))
        expect(each).toBeUndefined();
    };
    await expect(read()).rejects.toThrow("enough");
  });
});

describe("run.result", () => {
  it("waits for the end and gives the checkpoints by step", async () => {
    let ended = false;
    const server = await fakeServer({
      "GET /runs/run1": () =>
        runDetailOf({ state: ended ? "succeeded" : "running", metrics: { reward: -1 } }),
      "GET /runs/run1/events": () => {
        ended = true;
        return { events: [event(9, { type: "state", state: "succeeded" })], next: 9, done: true };
      },
      "GET /runs/run1/checkpoints": () => ({ items: [checkpointRecord(20), checkpointRecord(10)] }),
    });
    const result = await runOn(server).result();
    expect(result.metrics).toEqual({ reward: -1 });
    expect(result.checkpoints().map(({ id, step, path }) => [id, step, path])).toEqual([
      ["run1@10", 10, "/tmp/run1@10"],
      ["run1@20", 20, "/tmp/run1@20"],
    ]);
  });

  it("throws the cause and the log of a failed run, and says that a cancelled one was", async () => {
    const failure = { code: "reward_failed", message: "boom", hint: "Mend it.", logTail: ["last words"] };
    const server = await fakeServer({ "GET /runs/run1": () => runDetailOf({ state: "failed", failure }) });
    await expect(runOn(server).result()).rejects.toMatchObject({
      code: "run_failed",
      message: "The run run1 failed: boom [reward_failed]\n  | last words",
      hint: "Mend it.",
    });
    server.handlers["GET /runs/run1"] = () => runDetailOf({ state: "cancelled" });
    await expect(runOn(server).result()).rejects.toMatchObject({ code: "user_cancelled" });
  });
});

describe("run.cancel", () => {
  it("asks and looks again", async () => {
    const server = await fakeServer({
      "POST /runs/run1/cancel": () => ({}),
      "GET /runs/run1": () => runDetailOf({ cancelRequested: true }),
    });
    expect((await runOn(server).cancel()).record.cancelRequested).toBe(true);
  });
});

describe("a run that exists", () => {
  it("is paused, resumed, changed, archived and deleted by its own calls", async () => {
    const server = await fakeServer({ "*": () => runDetailOf({ state: "paused" }) });
    const run = runOn(server);
    expect((await run.pause()).state).toBe("paused");
    await run.resume();
    await run.update({ tags: ["best"], notes: "" });
    await run.archive();
    await run.archive(false);
    await run.delete();
    const asked = server.requests.filter(({ method }) => method !== "GET");
    expect(asked.map(({ method, path, body }) => `${method} ${path} ${body}`.trim())).toEqual([
      "POST /runs/run1/pause",
      "POST /runs/run1/resume",
      'PATCH /runs/run1 {"tags":["best"],"notes":""}',
      'PATCH /runs/run1 {"archived":true}',
      'PATCH /runs/run1 {"archived":false}',
      "DELETE /runs/run1",
    ]);
  });

  it("passes on why it cannot be deleted", async () => {
    const server = await fakeServer({
      "DELETE /runs/run1": (_, response) => sendError(response, 409, "conflict", "Endpoint a serves run1@2."),
    });
    await expect(runOn(server).delete()).rejects.toMatchObject({ code: "conflict" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("Run.get and Run.list", () => {
  it("reads one, or as many as asked over pages", async () => {
    const { client, requests } = await fakeServer({
      "GET /runs/run1": () => runDetailOf(),
      "GET /runs": ({ query }) =>
        query.after
          ? { items: [runRecord({ id: "b" })], next: "2" }
          : { items: [runRecord({ id: "a" })], next: "1" },
    });
    expect((await Run.get("run1", { client })).step).toBe(3);
    expect((await Run.list({ client, limit: 2 })).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(requests.at(-1)?.query).toEqual({ after: "1", limit: "1" });
    await Run.list({ client, limit: 1, tag: "best", archived: true });
    expect(requests.at(-1)?.query).toEqual({ limit: "1", tag: "best", archived: "true" });
  });
});
