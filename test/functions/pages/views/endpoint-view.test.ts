import { describe, expect, it } from "vitest";
import { coldStartText } from "../../../../functions/pages/views/endpoint-view.ts";

const replica = { jobId: "serve-nano-r1-1", state: "ready", createdAtMs: 1_000 } as const;

describe("the page of an endpoint", () => {
  it("tells the cold start of what answers", () => {
    expect(coldStartText({ replicas: [{ ...replica, readyAtMs: 1_894 }] })).toBe(" · cold start 0.894 s");
    expect(coldStartText({ replicas: [{ ...replica, readyAtMs: 126_000 }] })).toBe(" · cold start 2 min 5 s");
    expect(coldStartText({ replicas: [replica] })).toBe("");
  });
});
