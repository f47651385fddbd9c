import { describe, expect, it } from "vitest";
import { hasWeights, weightsText } from "../../../sdk/schema/checkpoint-weights.ts";
import { refuseWithoutWeights } from "../../../sdk/schema/refuse-without-weights.ts";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";

const file = (path: string) => ({ path, size: 1, sha256: "0".repeat(64) });
const state = [file("trainer/iter_0000001/.metadata")];

function without(conversion?: Checkpoint["conversion"]) {
  return { id: "r@2", runId: "r", files: state, ...(conversion && { conversion }) };
}

describe("the weights of a checkpoint", () => {
  it("are there with a file below model/", () => {
    const whole = { id: "r@2", runId: "r", files: [...state, file("model/w.safetensors")] };
    expect(hasWeights(whole)).toBe(true);
    expect(weightsText(whole)).toBeUndefined();
    expect(() => refuseWithoutWeights(whole, "checkpoint")).not.toThrow();
  });

  it.each([
    [undefined, "missing", "spotter checkpoint convert r@2"],
    [{ state: "queued" } as const, "converting", "spotter checkpoint list r"],
    [{ state: "running" } as const, "converting", "spotter checkpoint list r"],
    [{ state: "cancelled" } as const, "missing", "spotter checkpoint convert r@2"],
    [
      { state: "failed", failure: { code: "conversion_failed", message: "no such layer" } } as const,
      "failed: no such layer",
      "spotter checkpoint convert r@2",
    ],
  ])("of %j are %s, and it is said what to do", (conversion, text, hint) => {
    const checkpoint = without(conversion);
    expect(hasWeights(checkpoint)).toBe(false);
    expect(weightsText(checkpoint)).toBe(text);
    const refusal = expect.objectContaining({
      ...{ code: "weights_missing", where: "checkpoint" },
      hint: expect.stringContaining(hint) as string,
    }) as Error;
    expect(() => refuseWithoutWeights(checkpoint, "checkpoint")).toThrow(refusal);
  });
});
