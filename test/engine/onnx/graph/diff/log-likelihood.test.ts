import { Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { add, embedding, logLikelihood } from "../../../../../engine/onnx/graph/diff/index.ts";
import { Graph } from "../../../../../engine/onnx/graph/graph.ts";
import { GraphSession } from "../../../../../engine/onnx/graph/session.ts";
import { Tape } from "../../../../../engine/onnx/graph/tape.ts";
import { relativeError } from "../../support/fixtures.ts";
import { numbers } from "../../support/gradient-check.ts";

const M = 4;
const V = 7;
const D = 5;
const temperature = 0.6;
const coefficient = [0.3, -0.8, 0.5, 1.1];
const targets = [2, 6, 2, 0];
const tiedRows = [1, 3, 3, 0];

describe("language-model head", () => {
  it.each([{ tied: true }, { tied: false }])(
    "gradients by finite differences, tied: $tied",
    async ({ tied }) => {
      const hidden = numbers(M * D, 1);
      const head = numbers(V * D, 2);
      const session = await build(tied);
      try {
        const run = (): ReturnType<GraphSession["run"]> =>
          session.run(
            {
              hidden: new Tensor("float32", hidden, [M, D]),
              head: new Tensor("float32", head, [V, D]),
              targets: new Tensor("int64", BigInt64Array.from(targets, BigInt), [M, 1]),
              rows: new Tensor("int64", BigInt64Array.from(tiedRows, BigInt), [M]),
              coefficient: new Tensor("float32", Float32Array.from(coefficient), [M, 1]),
              inverse: new Tensor("float32", Float32Array.of(1 / temperature), []),
            },
            { logprob: null, entropy: null, dHidden: null, dHead: null },
          );
        const { dHidden, dHead, logprob, entropy } = await run();
        for (const [parameter, gradient] of [
          [hidden, dHidden],
          [head, dHead],
        ] as const) {
          expect(
            relativeError(gradient?.data as Float32Array, differences(parameter, hidden, head, tied)),
          ).toBeLessThan(5e-3);
        }
        const expected = distributions(hidden, head, tied);
        for (let row = 0; row < M; row++) {
          const p = expected[row] ?? [];
          expect(logprob?.data[row]).toBeCloseTo(Math.log(p[targets[row] ?? 0] ?? NaN), 5);
          expect(entropy?.data[row]).toBeCloseTo(-p.reduce((sum, x) => sum + x * Math.log(x), 0), 5);
        }
      } finally {
        await session.close();
      }
    },
  );
});

/** With tied embeddings the hidden rows also are rows of the head, added to the given ones. */
async function build(tied: boolean): Promise<GraphSession> {
  const graph = new Graph();
  const tape = new Tape(graph);
  const hidden = graph.input("hidden", "float32", ["M", D]);
  const head = graph.input("head", "float32", [V, D]);
  const targetsInput = graph.input("targets", "int64", ["M", 1]);
  const weights = graph.input("coefficient", "float32", ["M", 1]);
  const inverseTemperature = graph.input("inverse", "float32", []);
  tape.require(hidden);
  tape.require(head);
  const rows = graph.input("rows", "int64", ["M"]);
  const states = tied ? add(tape, hidden, embedding(tape, head, rows)) : hidden;
  const { logprob, entropy, seed } = logLikelihood(tape, {
    hidden: states,
    head,
    targets: targetsInput,
    inverseTemperature,
  });
  seed(weights);
  tape.backward();
  for (const [name, value] of Object.entries({ hidden, head })) {
    const gradient = tape.gradient(value);
    if (gradient === undefined) throw new Error(`No gradient of ${name}`);
    graph.output(name === "hidden" ? "dHidden" : "dHead", gradient);
  }
  graph.output("logprob", logprob);
  graph.output("entropy", entropy);
  return GraphSession.create(graph, { threads: 1 });
}

/** The same in double precision: the distribution of each row. */
function distributions(hidden: Float32Array, head: Float32Array, tied: boolean): number[][] {
  return tiedRows.map((tiedRow, row) => {
    const logits = Array.from({ length: V }, (_, token) => {
      let sum = 0;
      for (let i = 0; i < D; i++) {
        const x = (hidden[row * D + i] ?? 0) + (tied ? (head[tiedRow * D + i] ?? 0) : 0);
        sum += x * (head[token * D + i] ?? 0);
      }
      return Math.exp(sum / temperature);
    });
    const total = logits.reduce((a, b) => a + b, 0);
    return logits.map((x) => x / total);
  });
}

/** Gradient of `-sum(coefficient * logprob)` by central differences, element by element. */
function differences(
  parameter: Float32Array,
  hidden: Float32Array,
  head: Float32Array,
  tied: boolean,
): number[] {
  const loss = (): number =>
    distributions(hidden, head, tied).reduce(
      (sum, p, row) => sum - (coefficient[row] ?? 0) * Math.log(p[targets[row] ?? 0] ?? NaN),
      0,
    );
  return Array.from(parameter, (start, i) => {
    const h = 2 ** -10;
    parameter[i] = start + h;
    const above = loss();
    parameter[i] = start - h;
    const below = loss();
    parameter[i] = start;
    return (above - below) / (2 * h);
  });
}
