import { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { Graph } from "../../../../engine/onnx/graph/graph.ts";
import * as ops from "../../../../engine/onnx/graph/ops/index.ts";
import { GraphSession } from "../../../../engine/onnx/graph/session.ts";

describe("the graph builder", () => {
  it("serves every size with one session, symbolic shapes computed at run time", async () => {
    const graph = new Graph();
    const ids = graph.input("ids", "int64", ["B", "S"]);
    const table = graph.input("table", "float32", [10, 4]);
    const flat = ops.gather(graph, table, ops.reshape(graph, ids, ["B*S"]));
    const heads = ops.transpose(graph, ops.reshape(graph, flat, ["B", "S", 2, 2]), [0, 2, 1, 3]);
    graph.output("heads", heads);
    graph.output("zeros", ops.zeros(graph, ["2*B", "S"]));
    const session = await GraphSession.create(graph, { threads: 1 });
    try {
      for (const [batch, length] of [
        [1, 1],
        [2, 3],
        [3, 2],
      ] as const) {
        const data = BigInt64Array.from({ length: batch * length }, (_, i) => BigInt(i % 10));
        const rows = Float32Array.from({ length: 40 }, (_, i) => i);
        const results = await session.run(
          { ids: new Tensor("int64", data, [batch, length]), table: new Tensor("float32", rows, [10, 4]) },
          { heads: null, zeros: null },
        );
        expect(results.heads?.dims).toEqual([batch, 2, length, 2]);
        expect(results.zeros?.dims).toEqual([2 * batch, length]);
        expect(results.heads?.data[0]).toBe(0);
        expect(results.heads?.data[length * 2]).toBe(2);
      }
    } finally {
      await session.close();
    }
  });

  it("refuses shapes that cannot fit while the graph is built", () => {
    const graph = new Graph();
    const a = graph.input("a", "float32", ["N", 3]);
    const b = graph.input("b", "float32", ["M", 3]);
    expect(() => ops.add(graph, a, b)).toThrow("Add of float32[N,3] and float32[M,3]");
    expect(() => ops.matMul(graph, a, b)).toThrow("No matrix product");
    expect(ops.matMul(graph, a, b, { transB: true }).shape).toEqual(["N", "M"]);
    expect(() => ops.reshape(graph, a, ["N", 4])).toThrow("has not as many elements");
    expect(() => ops.split(graph, a, [1, 1])).toThrow("do not make up");
    expect(() => graph.input("a", "float32", [])).toThrow("are named a");
    expect(() => graph.shapeVector(["X"])).toThrow("dimension X");
  });

  it("gives the same value under several output names, and an input as an output", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2]);
    const y = ops.negate(graph, x);
    graph.output("one", y);
    graph.output("two", y);
    graph.output("same", x);
    const session = await GraphSession.create(graph, { threads: 1 });
    const feeds = { x: new Tensor("float32", Float32Array.of(1, 2), [2]) };
    const results = await session.run(feeds, { one: null, two: null, same: null });
    await session.close();
    expect([...(results.one?.data as Float32Array)]).toEqual([-1, -2]);
    expect([...(results.two?.data as Float32Array)]).toEqual([-1, -2]);
    expect([...(results.same?.data as Float32Array)]).toEqual([1, 2]);
  });

  it("adds to rows that come several times without losing an addition", async () => {
    const graph = new Graph();
    const rows = graph.input("rows", "int64", ["M"]);
    const updates = graph.input("updates", "float32", ["M", 64]);
    graph.output("sums", ops.addToRows(graph, ops.zeros(graph, [8, 64]), rows, updates));
    const session = await GraphSession.create(graph, { threads: 2 });
    const many = 4096;
    const results = await session.run(
      {
        rows: new Tensor(
          "int64",
          BigInt64Array.from({ length: many }, (_, i) => BigInt(i % 8)),
          [many],
        ),
        updates: new Tensor("float32", new Float32Array(many * 64).fill(1), [many, 64]),
      },
      { sums: null },
    );
    await session.close();
    expect((results.sums?.data as Float32Array).every((sum) => sum === many / 8)).toBe(true);
  });

  it("gives what the runtime refuses as a coded error", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", ["N", 2]);
    graph.output("y", ops.negate(graph, x));
    const session = await GraphSession.create(graph, { threads: 1 });
    const wrong = session.run({ x: new Tensor("float32", new Float32Array(3), [1, 3]) }, { y: null });
    await expect(wrong).rejects.toSatisfy(
      (error: unknown) => SpotterError.is(error) && error.code === "engine_failed",
    );
    await session.close();
  });
});
