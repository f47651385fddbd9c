import { describe, it } from "vitest";
import { add, multiply, scale, silu } from "../../../../../engine/onnx/graph/diff/index.ts";
import { checkGradient, value } from "../../support/gradient-check.ts";

const sizes = { N: 5 };
const a = { shape: ["N", 4] };
const b = { shape: ["N", 4] };

describe("gradients of elementwise operations", () => {
  it("add", () => checkGradient(sizes, { a, b }, (tape, v) => add(tape, value(v, "a"), value(v, "b"))));

  it("multiply", () =>
    checkGradient(sizes, { a, b }, (tape, v) => multiply(tape, value(v, "a"), value(v, "b"))));

  it("scale", () =>
    checkGradient(sizes, { a }, (tape, v) => scale(tape, value(v, "a"), tape.graph.scalar(-1.7))));

  it("silu, far into both tails", () => {
    const data = Float32Array.from({ length: 20 }, (_, i) => i - 10);
    return checkGradient(sizes, { a: { ...a, data } }, (tape, v) => silu(tape, value(v, "a")));
  });

  it("a value used twice gathers both gradients", () =>
    checkGradient(sizes, { a }, (tape, v) => {
      const x = value(v, "a");
      return add(tape, multiply(tape, x, x), x);
    }));
});
