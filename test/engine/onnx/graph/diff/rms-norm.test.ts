import { describe, it } from "vitest";
import { rmsNorm } from "../../../../../engine/onnx/graph/diff/index.ts";
import { checkGradient, value } from "../../support/gradient-check.ts";

describe("gradients of the RMS norm", () => {
  it("input and weight", () =>
    checkGradient({ N: 4 }, { x: { shape: ["N", 6] }, weight: { shape: [6] } }, (tape, v) =>
      rmsNorm(tape, value(v, "x"), value(v, "weight"), 1e-5),
    ));

  it("an epsilon that matters", () =>
    checkGradient({ N: 4 }, { x: { shape: ["N", 6] }, weight: { shape: [6] } }, (tape, v) =>
      rmsNorm(tape, value(v, "x"), value(v, "weight"), 0.5),
    ));
});
