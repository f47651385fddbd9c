import { describe, it } from "vitest";
import { embedding, multiply, selectRows } from "../../../../../engine/onnx/graph/diff/index.ts";
import { checkGradient, value } from "../../support/gradient-check.ts";

describe("gradients of look-ups", () => {
  it("embedding, an id coming several times", () =>
    checkGradient(
      { N: 5 },
      { table: { shape: [6, 3] } },
      (tape, v) => embedding(tape, value(v, "table"), value(v, "ids")),
      { ids: { type: "int64", shape: ["N"], data: [2, 0, 2, 5, 2] } },
    ));

  it("embedding of a table that is used elsewhere as well", () =>
    checkGradient(
      { N: 6 },
      { table: { shape: ["N", 3] } },
      (tape, v) => {
        const rows = embedding(tape, value(v, "table"), value(v, "ids"));
        return multiply(tape, rows, value(v, "table"));
      },
      { ids: { type: "int64", shape: ["N"], data: [2, 0, 2, 5, 2, 1] } },
    ));

  it("selected rows", () =>
    checkGradient(
      { N: 5, M: 2 },
      { x: { shape: ["N", 3] } },
      (tape, v) => selectRows(tape, value(v, "x"), value(v, "rows")),
      { rows: { type: "int64", shape: ["M"], data: [4, 1] } },
    ));
});
