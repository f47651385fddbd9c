import { describe, expect, it } from "vitest";
import { Tensor } from "onnxruntime-node";
import { rotary } from "../../../../../engine/onnx/graph/diff/index.ts";
import { Graph } from "../../../../../engine/onnx/graph/graph.ts";
import { rotaryEmbedding } from "../../../../../engine/onnx/graph/ops/index.ts";
import { GraphSession } from "../../../../../engine/onnx/graph/session.ts";
import { rotaryTables } from "../../../../../engine/onnx/models/rotary-tables.ts";
import { checkGradient, numbers, value } from "../../support/gradient-check.ts";
import { tinyConfig } from "../../support/tiny.ts";

describe("rotary embedding", () => {
  it("passes gradients back", () =>
    checkGradient({ B: 2, S: 3 }, { x: { shape: ["B", 2, "S", 16] } }, (tape, v) =>
      rotary(tape, value(v, "x"), rotaryTables(tape.graph, tinyConfig, 16)),
    ));

  it("turns pair (j, j + hd/2) by position * theta^(-2j/hd)", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [1, 1, 3, 16]);
    graph.output("y", rotaryEmbedding(graph, x, rotaryTables(graph, tinyConfig, 16)));
    const session = await GraphSession.create(graph, { threads: 1 });
    const data = numbers(48, 1);
    const { y } = await session.run({ x: new Tensor("float32", data, [1, 1, 3, 16]) }, { y: null });
    await session.close();
    for (let position = 0; position < 3; position++) {
      for (let pair = 0; pair < 8; pair++) {
        const angle = position * tinyConfig.ropeTheta ** (-pair / 8);
        const [a = 0, b = 0] = [data[position * 16 + pair], data[position * 16 + pair + 8]];
        expect(y?.data[position * 16 + pair]).toBeCloseTo(a * Math.cos(angle) - b * Math.sin(angle), 5);
        expect(y?.data[position * 16 + pair + 8]).toBeCloseTo(b * Math.cos(angle) + a * Math.sin(angle), 5);
      }
    }
  });
});
