import type * as api from "@opentelemetry/api";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ObservedRequest, RequestRecord, RequestSink, SinkSpan } from "./observer.ts";
import { formatTraceparent, parseTraceparent } from "./trace-context.ts";

export interface TracingOptions {
  /** Of this program, for the resource. */
  version: string;
  /** Where traces go, `/v1/traces` included. Default: as OpenTelemetry's own variables say. */
  url?: string;
  /** Default: as OTEL_SERVICE_NAME says, else "spotter". */
  serviceName?: string;
}

export interface Tracing extends RequestSink {
  /** Sends what waits, and ends. */
  close(): Promise<void>;
}

/**
 * Sends a span for every request of the gateway over OTLP/HTTP, with a child for its wait and one for each
 * replica it went to. A `traceparent` of the client is continued, and the replica gets one of ours.
 *
 * @throws SpotterError `package_missing`: OpenTelemetry's packages are optional.
 */
export async function createTracing({
  version,
  url,
  serviceName = "spotter",
}: TracingOptions): Promise<Tracing> {
  const [{ ROOT_CONTEXT, SpanKind, SpanStatusCode, createTraceState, trace }, sdk, resources, exporter] =
    await Promise.all([
      optional("@opentelemetry/api", () => import("@opentelemetry/api")),
      optional("@opentelemetry/sdk-trace", () => import("@opentelemetry/sdk-trace")),
      optional("@opentelemetry/resources", () => import("@opentelemetry/resources")),
      optional(
        "@opentelemetry/exporter-trace-otlp-http",
        () => import("@opentelemetry/exporter-trace-otlp-http"),
      ),
    ]);
  const own = resources.resourceFromAttributes({ "service.name": serviceName, "service.version": version });
  const detected = resources.detectResources({ detectors: [resources.envDetector] });
  const batches = new sdk.BatchSpanProcessor({
    exporter: new exporter.OTLPTraceExporter(url === undefined ? {} : { url }),
  });
  const resource = resources.defaultResource().merge(own).merge(detected);
  const provider = new sdk.TracerProvider({ resource, spanProcessors: [batches] });
  const tracer = provider.getTracer("spotter", version);

  function parentOf({ traceparent, tracestate }: ObservedRequest): api.Context {
    const parent = parseTraceparent(traceparent);
    if (parent === undefined) return ROOT_CONTEXT;
    const { flags: traceFlags, ...ids } = parent;
    const traceState = tracestate === undefined ? undefined : createTraceState(tracestate);
    return trace.setSpanContext(ROOT_CONTEXT, {
      ...ids,
      traceFlags,
      isRemote: true,
      ...(traceState && { traceState }),
    });
  }

  function begin(request: ObservedRequest, startedAtMs: number): SinkSpan | undefined {
    if (!request.route.startsWith("/v1/")) return undefined;
    const { route, method = "POST", requestId } = request;
    const attributes = {
      "http.request.method": method,
      "http.route": route,
      "spotter.request_id": requestId,
    };
    const options = { kind: SpanKind.SERVER, startTime: startedAtMs, attributes };
    const root = tracer.startSpan(`${method} ${route}`, options, parentOf(request));
    const inRoot = trace.setSpan(ROOT_CONTEXT, root);
    let upstream: api.Span | undefined;
    return {
      upstreamHeaders(nowMs) {
        // Asked again: the replica before this one did not answer.
        upstream?.setStatus({ code: SpanStatusCode.ERROR, message: "The replica did not answer." });
        upstream?.end(nowMs);
        upstream = tracer.startSpan("replica", { kind: SpanKind.CLIENT, startTime: nowMs }, inRoot);
        const { traceId, spanId, traceFlags: flags, traceState } = upstream.spanContext();
        const state = traceState?.serialize();
        return {
          traceparent: formatTraceparent({ traceId, spanId, flags }),
          ...(state && { tracestate: state }),
        };
      },
      ended(record) {
        const { queuedAtMs, admittedAtMs, firstByteAtMs, endedAtMs, status, code } = record;
        if (queuedAtMs !== undefined)
          tracer.startSpan("queue", { startTime: queuedAtMs }, inRoot).end(admittedAtMs ?? endedAtMs);
        upstream?.setAttributes(defined({ "spotter.replica": record.replica }));
        if (firstByteAtMs !== undefined) root.addEvent("first token", firstByteAtMs);
        root.setAttributes(attributesOf(record));
        for (const span of status >= 500 ? [root, upstream] : [])
          span?.setStatus({ code: SpanStatusCode.ERROR, ...(code !== undefined && { message: code }) });
        upstream?.end(endedAtMs);
        root.end(endedAtMs);
      },
    };
  }

  return {
    begin,
    close: () => provider.shutdown(),
  };
}

/** Names of OpenTelemetry's semantic conventions where there is one. */
function attributesOf({ endpoint, keyId, status, code, coldStart, tokens }: RequestRecord): api.Attributes {
  return defined({
    "http.response.status_code": status,
    "error.type": code,
    "gen_ai.request.model": endpoint,
    "gen_ai.usage.input_tokens": tokens?.input,
    "gen_ai.usage.output_tokens": tokens?.output,
    "spotter.key_id": keyId,
    "spotter.cold_start": coldStart,
  });
}

function defined(attributes: Record<string, string | number | boolean | undefined>): api.Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** An optional package, or an error that names it. */
export async function optional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new SpotterError("package_missing", `Traces need the package ${name}, which is not installed.`, {
      where: "OTEL_EXPORTER_OTLP_ENDPOINT",
      hint: `Run \`npm install ${PACKAGES.join(" ")}\`, or unset the variable.`,
      cause,
    });
  }
}

const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/sdk-trace",
  "@opentelemetry/resources",
  "@opentelemetry/exporter-trace-otlp-http",
];
