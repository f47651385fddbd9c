import { describe, expect, it } from "vitest";
import { cloudPricing, hardwareNotes, ignoredHardware, ownMachine } from "../../../functions/cost/pricing.ts";
import { hardware } from "../../../sdk/schema/hardware.ts";

describe("hardware that one machine does not choose", () => {
  const asked = hardware.parse({ gpu: "H100", count: 3 });

  it("is ignored by the embedded engine", () => {
    expect(ignoredHardware(ownMachine(), { hardware: asked, engine: "onnx" })).toEqual([
      "Hardware (3 × H100) is ignored: this machine runs on what it has.",
    ]);
  });

  it("still says how many GPUs another engine is started for", () => {
    expect(hardwareNotes(ownMachine(), { hardware: asked, engine: "slime" })).toEqual([
      "slime is started for 3 GPUs, of whichever kind this machine has.",
    ]);
    expect(ignoredHardware(ownMachine(), { hardware: hardware.parse({}), engine: "vllm" })).toEqual([
      "vllm is started for 1 GPU, of whichever kind this machine has.",
    ]);
  });

  it("needs no word where none was asked for, or where it is chosen", () => {
    expect(ignoredHardware(ownMachine(), { hardware: undefined, engine: "vllm" })).toEqual([]);
    expect(ignoredHardware(cloudPricing(), { hardware: asked, engine: "vllm" })).toEqual([]);
  });
});
