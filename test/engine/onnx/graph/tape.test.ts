import { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import * as diff from "../../../../engine/onnx/graph/diff/index.ts";
import { Graph } from "../../../../engine/onnx/graph/graph.ts";
import { GraphSession } from "../../../../engine/onnx/graph/session.ts";
import { Tape } from "../../../../engine/onnx/graph/tape.ts";

describe("the tape", () => {
  it("follows only what a gradient is asked of", async () => {
    const graph = new Graph();
    const tape = new Tape(graph);
    const x = graph.input("x", "float32", [2]);
    const w = graph.input("w", "float32", [2]);
    tape.require(w);
    const y = diff.multiply(tape, diff.add(tape, x, x), w);
    expect(tape.requires(y)).toBe(true);
    tape.backward([y, y]);
    expect(tape.gradient(x)).toBeUndefined();
    const gradient = tape.gradient(w);
    if (gradient === undefined) throw new Error("No gradient");
    graph.output("gradient", gradient);
    const session = await GraphSession.create(graph, { threads: 1 });
    const feeds = {
      x: new Tensor("float32", Float32Array.of(1, 2), [2]),
      w: new Tensor("float32", Float32Array.of(3, 4), [2]),
    };
    const results = await session.run(feeds, { gradient: null });
    await session.close();
    expect([...(results.gradient?.data as Float32Array)]).toEqual([12, 64]);
  });

  it("gives no gradient to what the output does not depend on", () => {
    const graph = new Graph();
    const tape = new Tape(graph);
    const [a, b] = [graph.input("a", "float32", [2]), graph.input("b", "float32", [2])];
    tape.require(a);
    tape.require(b);
    const y = diff.add(tape, a, a);
    diff.multiply(tape, y, b);
    tape.backward([y, y]);
    expect(tape.gradient(a)).toBeDefined();
    expect(tape.gradient(b)).toBeUndefined();
  });

  it("refuses a gradient of another shape", () => {
    const graph = new Graph();
    const tape = new Tape(graph);
    const a = graph.input("a", "float32", ["N", 2]);
    tape.require(a);
    expect(() => tape.accumulate(a, graph.input("g", "float32", [2]))).toThrow("Gradient [2] of a [N,2]");
  });
});
