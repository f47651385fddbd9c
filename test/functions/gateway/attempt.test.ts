import { describe, expect, it } from "vitest";
import { Attempt, type Asker } from "../../../functions/gateway/attempt.ts";
import { DONE, vllmErrorEvent, vllmStream } from "../../fakes/engine/vllm.ts";

const SSE = { "content-type": "text/event-stream; charset=utf-8" };

/** An attempt whose replica is the test: `heard` is what its asker was told, in order. */
function attempt(choices = 1) {
  const heard: string[] = [];
  const asker: Asker = {
    events: (bytes, isLast) => void heard.push(`${isLast ? "last " : ""}events ${bytes.toString()}`),
    answer: (status, _headers, body) => void heard.push(`answer ${status} ${body.toString()}`),
    piece: (status, _headers, bytes) => void heard.push(`piece ${status} ${bytes.length}`),
    refused: ({ status, body }) => void heard.push(`refused ${status} ${body.error.message}`),
    ended: () => void heard.push("ended"),
    lost: (cause) => void heard.push(`lost ${cause.message}`),
  };
  const reasons: string[] = [];
  let paused = false;
  const controller = {
    aborted: false,
    get paused() {
      return paused;
    },
    reason: null,
    abort: (reason: Error) => void reasons.push(reason.message),
    pause: () => void (paused = true),
    resume: () => void (paused = false),
  };
  const tried = new Attempt(asker, choices);
  return {
    tried,
    heard,
    reasons,
    begin: (status = 200, headers: Record<string, string> = SSE) => {
      tried.onRequestStart(controller);
      tried.onResponseStart(controller, status, headers);
    },
    data: (text: string) => tried.onResponseData(controller, Buffer.from(text)),
    error: (message: string) => tried.onResponseError(controller, new Error(message)),
  };
}

const turn = () => new Promise((resolve) => queueMicrotask(() => resolve(undefined)));

describe("one try at one replica", () => {
  it("S14 passes the pieces of one read on together", async () => {
    const { heard, begin, data, tried } = attempt();
    const stream = vllmStream(["a", "b"]);
    begin();
    for (const event of stream.slice(0, 2)) data(event);
    await turn();
    for (const event of stream.slice(2)) data(event);
    await turn();
    tried.onResponseEnd();
    expect(heard).toEqual([
      `events ${stream.slice(0, 2).join("")}`,
      `last events ${stream.slice(2).join("")}`,
      "ended",
    ]);
  });

  it("tells what came together with the end before the end", () => {
    const { heard, begin, data, tried } = attempt();
    begin();
    data(vllmStream(["a"]).join(""));
    tried.onResponseEnd();
    expect(heard).toEqual([`last events ${vllmStream(["a"]).join("")}`, "ended"]);
  });

  it("S11 tells what came together with a reset before the loss", () => {
    const { heard, begin, data, error } = attempt();
    const [first = ""] = vllmStream(["a"]);
    begin();
    data(first);
    error("reset");
    expect(heard).toEqual([`events ${first}`, "lost reset"]);
  });

  it("S17 lets a replica go that goes on behind [DONE]", async () => {
    const { heard, reasons, begin, data } = attempt();
    begin();
    data(DONE);
    await turn();
    data("junk");
    await turn();
    data("more");
    await turn();
    expect(heard).toEqual([`last events ${DONE}`, "ended"]);
    expect(reasons).toHaveLength(1);
  });

  it("S10 lets a replica go that told an error, and tells nothing after it", async () => {
    const { heard, reasons, begin, data, tried } = attempt();
    begin();
    data(vllmErrorEvent("no") + DONE);
    await turn();
    tried.onResponseEnd();
    expect(heard).toEqual(["refused 500 no"]);
    expect(reasons).toHaveLength(1);
  });

  it("is told nothing, and ends the request, once it is aborted, whenever that is", async () => {
    const early = attempt();
    early.tried.abort();
    early.begin();
    early.error("aborted");
    expect(early.reasons).toHaveLength(1);
    const late = attempt();
    late.begin();
    late.data(DONE);
    late.tried.abort();
    await turn();
    late.tried.onResponseEnd();
    expect([...early.heard, ...late.heard]).toEqual([]);
    expect(late.reasons).toHaveLength(1);
  });

  it("tells an answer whole, and one that is too large in pieces", () => {
    const small = attempt();
    small.begin(200, { "content-type": "application/json" });
    small.data('{"a"');
    small.data(":1}");
    small.tried.onResponseEnd();
    expect(small.heard).toEqual(['answer 200 {"a":1}', "ended"]);
    const large = attempt();
    large.begin(200, { "content-type": "application/json" });
    large.data("x".repeat(200_000));
    large.data("x".repeat(100_000));
    large.data("x");
    large.tried.onResponseEnd();
    expect(large.heard).toEqual(["piece 200 300000", "piece 200 1", "ended"]);
  });

  it("E29 reads no more of an error than it needs", () => {
    const { heard, reasons, begin, data } = attempt();
    begin(500, { "content-type": "text/plain" });
    data("x".repeat(300_000));
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatch(/^refused 500 x{2000}$/);
    expect(reasons).toHaveLength(1);
  });

  it("passes over what comes before the answer's own head", () => {
    const { heard, tried, begin, data } = attempt();
    begin(103, {});
    begin(200, { "content-type": "application/json" });
    data("{}");
    tried.onResponseEnd();
    expect(heard).toEqual(["answer 200 {}", "ended"]);
  });
});
