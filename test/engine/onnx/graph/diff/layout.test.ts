import { describe, it } from "vitest";
import { multiply, reshape, split, transpose } from "../../../../../engine/onnx/graph/diff/index.ts";
import { checkGradient, value } from "../../support/gradient-check.ts";

const sizes = { B: 2, S: 3 };
// Named first, so that the symbolic sizes can be read off an input.
const ids = { ids: { type: "int64" as const, shape: ["B", "S"], data: [0, 0, 0, 0, 0, 0] } };

describe("gradients of layout operations", () => {
  it("reshape, two symbolic sizes at once", () =>
    checkGradient(
      sizes,
      { x: { shape: ["B*S", 4] } },
      (tape, v) => {
        const y = reshape(tape, value(v, "x"), ["B", "S", 2, 2]);
        return multiply(tape, y, y);
      },
      ids,
    ));

  it("transpose", () =>
    checkGradient(sizes, { x: { shape: ["B", "S", 4] } }, (tape, v) => {
      const y = transpose(tape, value(v, "x"), [2, 0, 1]);
      return multiply(tape, y, y);
    }));

  it("split", () =>
    checkGradient(sizes, { x: { shape: ["B", 5] } }, (tape, v) => split(tape, value(v, "x"), [2, 3])));

  it("split with a part nobody uses", () =>
    checkGradient(sizes, { x: { shape: ["B", 5] } }, (tape, v) =>
      split(tape, value(v, "x"), [2, 3]).slice(1),
    ));
});
