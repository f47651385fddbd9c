import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packRows } from "../../../../engine/onnx/train/packing.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { Trainer } from "../../../../engine/onnx/train/trainer.ts";
import { batch, sequence, sequences, setup } from "../support/batches.ts";
import { expectError } from "../support/errors.ts";
import { relativeError } from "../support/fixtures.ts";
import { tinyConfig } from "../support/tiny.ts";

describe("rows of several sequences", () => {
  it("hold every sequence once, and no more than there is room for", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 })),
        fc.integer({ min: 1, max: 30 }),
        (lengths, room) => {
          const rows = packRows(lengths, room);
          const packed = rows.flat().sort((a, b) => a - b);
          expect(packed).toEqual([...lengths.keys()].filter((index) => (lengths[index] ?? 0) > 0));
          for (const row of rows) {
            const tokens = row.reduce((sum, index) => sum + (lengths[index] ?? 0), 0);
            expect(row.length === 1 || tokens <= room).toBe(true);
          }
        },
      ),
    );
  });
});

describe("a packed step", () => {
  // A repeated beginning: what sees a neighbour, or counts positions on, gives itself away.
  const alike = [...sequences, sequence([3, 17, 8, 30, 2]), sequence([3, 17, 8])];

  async function trained(change: { packTokens?: number; microBatchSize?: number }) {
    const trainer = await Trainer.create(randomPolicy(tinyConfig, 3), setup, { threads: 1 });
    const result = await trainer.step(batch({ sequences: alike, ...change }));
    await trainer.close();
    return { result, weights: [...trainer.trainable].flatMap(({ data }) => [...data]) };
  }

  it.each([16, 64])("in rows of %i tokens learns what an unpacked one learns", async (packTokens) => {
    const apart = await trained({});
    const packed = await trained({ packTokens, microBatchSize: 2 });
    expect(packed.result.tokens).toBe(apart.result.tokens);
    expect(packed.result.loss).toBeCloseTo(apart.result.loss, 5);
    expect(relativeError([packed.result.gradNorm], [apart.result.gradNorm])).toBeLessThan(1e-5);
    for (const [index, row] of apart.result.logprobs.entries())
      expect(relativeError(packed.result.logprobs[index] ?? [], row)).toBeLessThan(1e-5);
  });

  it("is of supervised learning alone", async () => {
    const trainer = await Trainer.create(randomPolicy(tinyConfig, 3), setup, { threads: 1 });
    const withOld = sequences.map((each) => ({ ...each, oldLogprobs: each.ids.map(() => -1) }));
    const ppo = batch({ sequences: withOld, loss: "ppo", packTokens: 16 });
    await expectError(() => trainer.step(ppo), "invalid_input", "packTokens");
    await trainer.close();
  });
});
