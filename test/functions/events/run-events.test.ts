import { createParser, type EventSourceMessage } from "eventsource-parser";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RunEvent, RunEventPage } from "../../../sdk/schema/event.ts";
import { runKey, runStream, type RunDocument } from "../../../functions/runs/records.ts";
import { ADMIN_KEY, testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";

const log = (message: string) => ({ type: "log", level: "info", message });

async function all(plane: TestPlane, id: string): Promise<RunEvent[]> {
  return (await plane.json<RunEventPage>("GET", `/runs/${id}/events`)).events;
}

describe("a long poll", () => {
  it("answers at once with what is there, else with the next news", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const first = await plane.json<RunEventPage>("GET", `/runs/${id}/events?after=0&waitMs=20000`);
    expect(first.events.length).toBeGreaterThan(3);
    expect(first.done).toBe(false);
    const before = plane.clock.pending;
    const waiting = plane.json<RunEventPage>("GET", `/runs/${id}/events?after=${first.next}&waitMs=20000`);
    await vi.waitFor(() => expect(plane.clock.pending).toBe(before + 1));
    await job.report(log("news"));
    const second = await waiting;
    expect(second.events.map(({ seq, body }) => [seq, body])).toEqual([[first.next + 1, log("news")]]);
    expect(plane.clock.pending).toBe(before);
  });

  it("comes back empty after its time, at most 25 s, and when the client goes away", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(plane);
    const { length } = await all(plane, id);
    const path = `/runs/${id}/events?after=${length}&waitMs=999999`;
    await plane.reconciler.close();
    const waiting = plane.json<RunEventPage>("GET", path);
    await vi.waitFor(() => expect(plane.clock.pending).toBe(1));
    plane.clock.advance(25_000);
    expect(await waiting).toEqual({ events: [], next: length, done: false });
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const left = plane.app.request(new Request(`http://localhost${path}`, { headers, signal: abort.signal }));
    await vi.waitFor(() => expect(plane.clock.pending).toBe(1));
    abort.abort();
    await left;
    expect(plane.clock.pending).toBe(0);
  });

  it("tells the end even if the process died before the stream had it", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const append = plane.control.store.append.bind(plane.control.store);
    plane.control.store.append = async (stream, events, options) => {
      if (JSON.stringify(events).includes('"succeeded"')) throw new Error("crash");
      return append(stream, events, options);
    };
    await job.exit("succeeded");
    const document = await plane.control.store.get<RunDocument>(runKey(id));
    expect(document?.value.run.state).toBe("succeeded");
    const restarted = await plane.restart();
    const events = await all(restarted, id);
    expect(events.at(-1)?.body).toEqual({ type: "state", state: "succeeded" });
    expect(await all(restarted, id)).toEqual(events);
    expect(await restarted.control.store.read(runStream(id), 0, 100)).toHaveLength(events.length);
  });

  it("of an unknown run is 404, of a bad seq 400", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    expect((await plane.call("GET", "/runs/nope/events")).status).toBe(404);
    expect((await plane.call("GET", "/runs/nope/events/stream")).status).toBe(404);
    const { id } = await runningRun(plane);
    expect((await plane.call("GET", `/runs/${id}/events?after=-1`)).status).toBe(400);
  });
});

describe("the event stream", () => {
  async function open(plane: TestPlane, id: string, headers: Record<string, string> = {}) {
    const response = await plane.app.request(`/runs/${id}/events/stream`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}`, ...headers },
    });
    const messages: EventSourceMessage[] = [];
    const comments: string[] = [];
    const parser = createParser({
      onEvent: (event) => void messages.push(event),
      onComment: (comment) => void comments.push(comment),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const ended = (async () => {
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
        parser.feed(next.value);
    })();
    return { response, messages, comments, ended, cancel: () => reader?.cancel() };
  }

  it("gives every event with its seq, and ends after the last", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const { response, messages, ended } = await open(plane, id);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    await job.report(log("one\nline two"));
    await job.exit("succeeded");
    await ended;
    const events = await all(plane, id);
    expect(messages.map(({ data }) => JSON.parse(data) as RunEvent)).toEqual(events);
    expect(messages.map((message) => Number(message.id))).toEqual(events.map(({ seq }) => seq));
  });

  it("goes on after Last-Event-ID", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    await job.exit("succeeded");
    const { messages, ended } = await open(plane, id, { "last-event-id": "3" });
    await ended;
    expect(messages[0]?.id).toBe("4");
  });

  it("keeps a quiet line open with comments, and lets go of everything when it is closed", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const { id } = await runningRun(plane);
    await plane.reconciler.close();
    const { comments, cancel, ended } = await open(plane, id);
    await vi.waitFor(() => expect(plane.clock.pending).toBe(2));
    plane.clock.advance(15_000);
    await vi.waitFor(() => expect(comments).toEqual(["ping"]));
    await cancel();
    await ended;
    await vi.waitFor(() => expect(plane.clock.pending).toBe(0));
  });
});
