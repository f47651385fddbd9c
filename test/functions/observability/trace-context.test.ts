import { describe, expect, it } from "vitest";
import { formatTraceparent, parseTraceparent } from "../../../functions/observability/trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("traceparent", () => {
  it("is read and written as W3C says", () => {
    const header = `00-${TRACE}-${SPAN}-01`;
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 });
    expect(formatTraceparent({ traceId: TRACE, spanId: SPAN, flags: 1 })).toBe(header);
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-00-later`)?.flags).toBe(0);
  });

  it.each([
    undefined,
    "",
    "nonsense",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  ])("that is invalid begins a new trace (%#)", (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});
