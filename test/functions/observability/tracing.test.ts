import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { createObserver } from "../../../functions/observability/observer.ts";
import { parseTraceparent } from "../../../functions/observability/trace-context.ts";
import { createTracing, optional } from "../../../functions/observability/tracing.ts";
import { fakeClock } from "../../fakes/clock.ts";

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  events?: { name: string }[];
  status: { code?: number; message?: string };
}

interface Sent {
  resourceSpans: { resource: { attributes: Span["attributes"] }; scopeSpans: { spans: Span[] }[] }[];
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const CHAT = "/v1/chat/completions";

async function collector() {
  const paths: string[] = [];
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      paths.push(request.url ?? "");
      sent.push(JSON.parse(text) as Sent);
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const tracing = await createTracing({ version: "1.2.3", url });
  const clock = fakeClock(1_700_000_000_000);
  const quiet = () => undefined;
  const observer = createObserver({ clock, log: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
  observer.add(tracing);
  async function spans(): Promise<Span[]> {
    await tracing.close();
    return sent.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  }
  return { clock, observer, spans, sent, paths };
}

function attribute(span: Span | undefined, key: string): unknown {
  const value = span?.attributes.find((each) => each.key === key)?.value;
  return value && Object.values(value)[0];
}

describe("traces", () => {
  it("have a span for the request, one for its wait and one for the replica, in the client's trace", async () => {
    const { clock, observer, spans, sent, paths } = await collector();
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    const seen = observer.begin({ requestId: "req-1", route: CHAT, traceparent, tracestate: "vendor=x" });
    seen.endpoint("base");
    seen.queued();
    clock.advance(300);
    seen.admitted({ replica: "serve-base-r1-1", coldStart: true });
    const headers = seen.upstreamHeaders();
    clock.advance(50);
    seen.firstByte();
    clock.advance(50);
    seen.tokens({ input: 12, output: 40 });
    seen.end(200);

    const all = await spans();
    expect(paths).toEqual(["/v1/traces"]);
    expect(all.map(({ name }) => name).sort()).toEqual([`POST ${CHAT}`, "queue", "replica"]);
    const named = (name: string) => all.find((span) => span.name === name);
    const root = named(`POST ${CHAT}`);
    const replica = named("replica");
    expect(all.every(({ traceId }) => traceId === TRACE)).toBe(true);
    expect(root?.parentSpanId).toBe(SPAN);
    expect(named("queue")?.parentSpanId).toBe(root?.spanId);
    expect(replica?.parentSpanId).toBe(root?.spanId);
    expect(parseTraceparent(headers["traceparent"])).toEqual({
      traceId: TRACE,
      spanId: replica?.spanId,
      flags: 1,
    });
    expect(headers).toMatchObject({ "x-request-id": "req-1", tracestate: "vendor=x" });

    const ms = (nano: string | undefined) => Number(BigInt(nano ?? 0) / 1_000_000n) - 1_700_000_000_000;
    expect([ms(root?.startTimeUnixNano), ms(root?.endTimeUnixNano)]).toEqual([0, 400]);
    expect(ms(named("queue")?.endTimeUnixNano)).toBe(300);
    expect([ms(replica?.startTimeUnixNano), ms(replica?.endTimeUnixNano)]).toEqual([300, 400]);
    expect(root?.events?.map(({ name }) => name)).toEqual(["first token"]);
    expect(attribute(root, "http.response.status_code")).toBe(200);
    expect(attribute(root, "gen_ai.request.model")).toBe("base");
    expect(attribute(root, "gen_ai.usage.output_tokens")).toBe(40);
    expect(attribute(root, "spotter.cold_start")).toBe(true);
    expect(attribute(replica, "spotter.replica")).toBe("serve-base-r1-1");
    const resource = sent[0]?.resourceSpans[0]?.resource.attributes ?? [];
    expect(resource.find(({ key }) => key === "service.name")?.value).toEqual({ stringValue: "spotter" });
  });

  it("begin anew without a valid traceparent, and show a replica that failed before another answered", async () => {
    const { observer, spans } = await collector();
    const seen = observer.begin({ requestId: "req-2", route: CHAT, traceparent: "nonsense" });
    const first = parseTraceparent(seen.upstreamHeaders()["traceparent"]);
    const second = parseTraceparent(seen.upstreamHeaders()["traceparent"]);
    seen.end(502, "upstream_error");
    const all = await spans();
    expect(second?.traceId).toBe(first?.traceId);
    expect(all.filter(({ name }) => name === "replica").map(({ spanId }) => spanId)).toEqual([
      first?.spanId,
      second?.spanId,
    ]);
    const root = all.find(({ name }) => name === `POST ${CHAT}`);
    expect(root?.parentSpanId ?? "").toBe("");
    expect(root?.status).toMatchObject({ code: 2, message: "upstream_error" });
  });

  it("leave out what the client does not sample, and what is not the gateway's", async () => {
    const { observer, spans } = await collector();
    const seen = observer.begin({ requestId: "r", route: CHAT, traceparent: `00-${TRACE}-${SPAN}-00` });
    expect(parseTraceparent(seen.upstreamHeaders()["traceparent"])).toMatchObject({
      traceId: TRACE,
      flags: 0,
    });
    seen.end(200);
    observer.begin({ requestId: "r", route: "/runs/:id" }).end(200);
    expect(await spans()).toEqual([]);
  });

  it("name the package that is missing", async () => {
    const absent: string = "no-such-package";
    const missing = optional("@opentelemetry/api", () => import(absent));
    const error = SpotterError.from(await missing.catch((thrown: unknown) => thrown));
    expect(error).toMatchObject({ code: "package_missing", where: "OTEL_EXPORTER_OTLP_ENDPOINT" });
    expect(error.message).toContain("@opentelemetry/api");
    expect(error.hint).toContain("@opentelemetry/exporter-trace-otlp-http");
  });
});
