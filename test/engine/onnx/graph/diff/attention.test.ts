import { describe, it } from "vitest";
import { attention } from "../../../../../engine/onnx/graph/diff/index.ts";
import { causalMask, concat } from "../../../../../engine/onnx/graph/ops/index.ts";
import { checkGradient, value } from "../../support/gradient-check.ts";

describe("gradients of causal grouped-query attention", () => {
  it("query, key and value, two query heads to a key head", () =>
    checkGradient(
      { B: 2, S: 4 },
      {
        q: { shape: ["B", 2, "2*S", 4] },
        k: { shape: ["B", 2, "S", 4] },
        v: { shape: ["B", 2, "S", 4] },
      },
      (tape, values) => {
        const mask = causalMask(tape.graph, "S");
        const both = concat(tape.graph, [mask, mask], 0, "2*S");
        return attention(tape, value(values, "q"), value(values, "k"), value(values, "v"), both);
      },
    ));
});
