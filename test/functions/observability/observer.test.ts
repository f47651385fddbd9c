import { describe, expect, it } from "vitest";
import { createObserver, type RequestRecord } from "../../../functions/observability/observer.ts";
import { fakeClock } from "../../fakes/clock.ts";

function watched() {
  const clock = fakeClock();
  const lines: { message: string; fields: Record<string, unknown> | undefined }[] = [];
  const write = (message: string, fields?: Record<string, unknown>) => void lines.push({ message, fields });
  const observer = createObserver({ clock, log: { debug: write, info: write, warn: write, error: write } });
  const records: RequestRecord[] = [];
  observer.add({ ended: (record) => void records.push(record) });
  const begin = () => observer.begin({ requestId: "req-1", route: "/v1/chat/completions" });
  return { clock, lines, observer, records, begin };
}

describe("the observer of requests", () => {
  it("writes one line a request, with what it took, and says nothing twice", () => {
    const { clock, lines, begin } = watched();
    const seen = begin();
    seen.endpoint("base");
    seen.key("0123456789abcdef");
    seen.queued();
    clock.advance(250);
    seen.admitted({ replica: "serve-base-r1-1", coldStart: true });
    clock.advance(40);
    seen.firstByte();
    clock.advance(10);
    seen.firstByte();
    seen.tokens({ input: 12, output: 40, cached: 8 });
    seen.end(200);
    seen.end(499, "user_cancelled");
    expect(lines).toEqual([
      {
        message: "request",
        fields: {
          requestId: "req-1",
          method: "POST",
          route: "/v1/chat/completions",
          endpoint: "base",
          replica: "serve-base-r1-1",
          keyId: "0123456789abcdef",
          status: 200,
          code: undefined,
          ms: 300,
          ttftMs: 290,
          queueMs: 250,
          coldStart: true,
          tokensIn: 12,
          tokensOut: 40,
          tokensCached: 8,
        },
      },
    ]);
  });

  it("tells the client what it waited for", () => {
    const { clock, begin } = watched();
    const seen = begin();
    expect(seen.responseHeaders()).toEqual({
      "x-request-id": "req-1",
      "openai-processing-ms": "0",
      "x-spotter-queue-ms": "0",
      "x-spotter-cold-start": "false",
    });
    seen.queued();
    clock.advance(70);
    expect(seen.responseHeaders()["x-spotter-queue-ms"]).toBe("70");
    seen.admitted({ replica: "r", coldStart: true });
    clock.advance(5);
    expect(seen.responseHeaders()).toMatchObject({
      "openai-processing-ms": "75",
      "x-spotter-queue-ms": "70",
      "x-spotter-cold-start": "true",
    });
  });

  it("tells every sink of the end, once, however it came about", () => {
    const { observer, records } = watched();
    for (const status of [499, 200]) {
      const seen = observer.begin({ requestId: `req-${status}`, route: "/v1/completions" });
      seen.endpoint("base");
      seen.queued();
      seen.end(status);
      seen.end(500);
    }
    expect(records.map(({ status }) => status)).toEqual([499, 200]);
    expect(records[0]?.admittedAtMs).toBeUndefined();
  });

  it("passes request id and trace context on to the replica", () => {
    const { observer } = watched();
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const seen = observer.begin({ requestId: "req-2", route: "/v1/completions", traceparent });
    expect(seen.upstreamHeaders()).toEqual({ "x-request-id": "req-2", traceparent });
    seen.end(200);
  });
});
