import { describe, expect, it } from "vitest";
import { longestSequence } from "../../../engine/training/lengths.ts";
import type { RowCodec } from "../../../engine/training/text.ts";
import { runSpec } from "../../../sdk/schema/run-spec.ts";
import { promptRow } from "./fake-engine.ts";

const sha256 = "0".repeat(64);
const spec = runSpec.parse({
  kind: "rl",
  model: { name: "m" },
  dataset: { sha256, rows: 1 },
  rewards: { code: { sha256 } },
  rollout: { maxTokens: 8 },
  algorithm: { kind: "grpo" },
  trainer: { steps: 1 },
});
const rows = Array.from({ length: 30 }, (_, index) => ({ row: promptRow("x"), where: `row ${index}` }));

/** Takes ten milliseconds a prompt. */
function slowCodec(): RowCodec {
  return {
    promptIds: () => {
      const until = performance.now() + 10;
      while (performance.now() < until);
      return [1, 2, 3];
    },
    completionIds: () => [],
    learntTurns: () => ({ ids: [], mask: [] }),
    textIds: () => [1],
    endId: 0,
    contextLength: 64,
  };
}

describe("longestSequence", () => {
  it("knows of texts how long they are cut, without reading them", async () => {
    const texts = [{ row: { prompt: [], text: "x", row: {} }, where: "row 1" }];
    const cut = (contextTokens?: number) =>
      longestSequence(
        { ...spec, algorithm: { kind: "sft", batchSize: 1, contextTokens } },
        slowCodec(),
        texts,
      );
    expect(await cut(16)).toBe(16);
    expect(await cut()).toBe(64);
  });

  it("leaves others a turn while it goes through many rows", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    expect(await longestSequence(spec, slowCodec(), rows)).toBe(3 + 8);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  });

  it("hands on every other failure", async () => {
    const promptIds = () => {
      throw new RangeError("no");
    };
    await expect(longestSequence(spec, { ...slowCodec(), promptIds }, rows)).rejects.toThrow(RangeError);
  });
});
