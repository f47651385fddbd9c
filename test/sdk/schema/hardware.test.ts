import { describe, expect, it } from "vitest";
import { hardware, hardwareChoice } from "../../../sdk/schema/hardware.ts";

describe("hardware with fallbacks", () => {
  it("is tried in turn, and from the first again after the last", () => {
    const wanted = hardware.parse({ gpu: "L4", fallbacks: ["A10G", "L40S"] });
    const gpus = [0, 1, 2, 3, 4].map((withoutRoom) => hardwareChoice(wanted, withoutRoom).gpu);
    expect(gpus).toEqual(["L4", "A10G", "L40S", "L4", "A10G"]);
    expect(hardwareChoice(hardware.parse({}), 3)).toEqual({ count: 1, spot: false });
  });

  it("names what they stand in for", () => {
    expect(hardware.safeParse({ fallbacks: ["A10G"] }).success).toBe(false);
    expect(hardware.safeParse({ gpu: "L4", fallbacks: [] }).success).toBe(false);
  });
});
