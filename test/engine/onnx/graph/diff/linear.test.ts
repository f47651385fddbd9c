import { describe, it } from "vitest";
import { add, linear } from "../../../../../engine/onnx/graph/diff/index.ts";
import { checkGradient, value } from "../../support/gradient-check.ts";

const sizes = { N: 5 };
const x = { shape: ["N", 4] };
const w = { shape: [3, 4] };

describe("gradients of linear", () => {
  it("rows times a weight", () =>
    checkGradient(sizes, { x, w }, (tape, v) => linear(tape, value(v, "x"), value(v, "w"))));

  it("with a base and a factor", () =>
    checkGradient(sizes, { x, w, base: { shape: ["N", 3] } }, (tape, v) =>
      linear(tape, value(v, "x"), value(v, "w"), value(v, "base"), 0.5),
    ));

  it("with a bias for all rows", () =>
    checkGradient(sizes, { x, w, bias: { shape: [3] } }, (tape, v) =>
      linear(tape, value(v, "x"), value(v, "w"), value(v, "bias")),
    ));

  it("accumulates where input and weight are used again", () =>
    checkGradient(sizes, { x, w }, (tape, v) => {
      const once = linear(tape, value(v, "x"), value(v, "w"));
      return linear(tape, add(tape, value(v, "x"), value(v, "x")), value(v, "w"), once, 2);
    }));
});
