import { describe, expect, it } from "vitest";
import type { Checkpoint } from "../../../../sdk/schema/checkpoint.ts";
import { checkpointsView } from "../../../../functions/pages/views/checkpoints-view.ts";

function shown(changes: Partial<Checkpoint>): string {
  const files = [{ path: "trainer/iter_0000001/.metadata", size: 1, sha256: "0".repeat(64) }];
  const checkpoint: Checkpoint = {
    ...{ v: 1, id: "r@2", runId: "r", step: 2, attempt: 1, kind: "full", model: { name: "m" } },
    ...{ files, createdAtMs: 0, path: "/there", ...changes },
  };
  return String(checkpointsView({ checkpoints: [checkpoint], nowMs: 0 }));
}

describe("a checkpoint on the page of its run", () => {
  it("can be talked to when it has weights", () => {
    const html = shown({ files: [{ path: "model/w.safetensors", size: 1, sha256: "0".repeat(64) }] });
    expect(html).toContain("Chat with it");
    expect(html).not.toContain("Weights:");
  });

  it("says how far its weights are, or why there are none, and how they are made", () => {
    const html = shown({ conversion: { state: "running" } });
    expect(html).toContain("Weights: converting");
    expect(html).not.toContain("Chat with it");
    const failure = { code: "conversion_failed", message: "no such layer" };
    const failed = shown({ conversion: { state: "failed", failure } });
    expect(failed).toContain("Weights: failed: no such layer");
    expect(failed).toContain("npx spotter checkpoint convert r@2");
  });
});
