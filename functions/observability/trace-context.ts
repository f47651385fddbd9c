/** What a `traceparent` header says (W3C Trace Context, level 1). */
export interface TraceParent {
  traceId: string;
  spanId: string;
  flags: number;
}

const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined for what the standard calls invalid: then a new trace begins. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = HEADER.exec(header ?? "") ?? [];
  if (version === undefined || version === "ff") return undefined;
  // Later versions may have more fields, the first one has not.
  if (version === "00" && more !== undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function formatTraceparent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
}
