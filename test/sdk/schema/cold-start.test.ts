import { describe, expect, it } from "vitest";
import { coldStartMs } from "../../../sdk/schema/cold-start.ts";
import { endpointRecord } from "../records.ts";

const first = { jobId: "serve-nano-r1-1", state: "ready", createdAtMs: 1_000, readyAtMs: 1_900 } as const;
const second = { jobId: "serve-nano-r1-2", state: "loading", createdAtMs: 5_000 } as const;

describe("the cold start of an endpoint", () => {
  it("is that of the newest replica that has answered", () => {
    expect(coldStartMs(endpointRecord({ replicas: [first, second] }))).toBe(900);
    const ready = { ...second, state: "ready", readyAtMs: 5_400 } as const;
    expect(coldStartMs(endpointRecord({ replicas: [first, ready] }))).toBe(400);
  });

  it("is not known before one has", () => {
    expect(coldStartMs(endpointRecord({ replicas: [second] }))).toBeUndefined();
    expect(coldStartMs(endpointRecord())).toBeUndefined();
  });
});
