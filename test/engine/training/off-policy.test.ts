import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { score } from "../fake-control-plane.ts";
import { promptRow, type FakeEngine } from "./fake-engine.ts";
import { trainFixture, type TrainFixture } from "./train-fixture.ts";

let fixture: TrainFixture;
const rows = Array.from({ length: 6 }, (_, index) => promptRow(`prompt ${index}`));
const STEPS = 5;
const PER_STEP = 8;

beforeEach(async () => {
  fixture = await trainFixture();
  fixture.plane.judge = (judged) => judged.map((row) => score(row.response.content.length));
});
afterEach(() => fixture[Symbol.asyncDispose]());

const train = (maxOffPolicySteps: number, resumeAt?: number) =>
  fixture.train(
    {
      trainer: { steps: STEPS, saveEvery: 1, learningRate: 0.01 },
      algorithm: { kind: "grpo", maxOffPolicySteps },
    },
    { rows, ...(resumeAt !== undefined && { resume: fixture.checkpointOf(resumeAt) }) },
  );

/** By step, after how many others the weights were that sampled what it learnt. */
function ages(engine: FakeEngine | undefined): number[] {
  const weights = [...new Set([...(engine?.sampledAt.values() ?? [])])];
  const versions = (engine?.requests ?? []).map((request) =>
    weights.indexOf(engine?.sampledAt.get(request) ?? NaN),
  );
  return Array.from({ length: STEPS }, (_, step) => versions[step * PER_STEP] ?? NaN);
}

describe("a run that learns from older answers", () => {
  it.each([
    [0, [0, 1, 2, 3, 4]],
    [1, [0, 0, 1, 2, 3]],
    [2, [0, 0, 0, 1, 2]],
    // There is nothing to sample beyond the last step.
    [9, [0, 0, 0, 0, 0]],
  ])("samples %i steps ahead, each step once", async (lag, expected) => {
    expect(await train(lag)).toBe(0);
    const [engine] = fixture.engines;
    expect(engine?.requests).toHaveLength(STEPS * PER_STEP);
    expect(ages(engine)).toEqual(expected);
    const rollouts = fixture.plane.rollouts.get(3) ?? [];
    expect(rollouts.map(({ step }) => step)).toEqual(rollouts.map(() => 3));
    expect(engine?.batches[2]?.sequences[0]?.ids).toEqual(
      rollouts.find(({ advantage }) => advantage !== undefined)?.tokenIds,
    );
  });

  it("learns the same rows in the same order at any age", async () => {
    const rowsOf = async (lag: number) => {
      await train(lag);
      return [1, 2, 3, 4, 5].map((step) => fixture.plane.rollouts.get(step)?.map(({ row }) => row));
    };
    expect(await rowsOf(2)).toEqual(await rowsOf(0));
  });

  it("goes on after a checkpoint as if it had never stopped, for what waits is kept with it", async () => {
    await train(2);
    const [whole] = fixture.engines;
    const rollouts = [4, 5].map((step) => fixture.plane.rollouts.get(step));
    const { files } = fixture.plane.checkpoints.get(3) ?? {};
    expect([...(files?.keys() ?? [])]).toContain("trainer/rollouts.json");
    expect([...(fixture.plane.checkpoints.get(STEPS)?.files.keys() ?? [])]).not.toContain(
      "trainer/rollouts.json",
    );
    await train(2, 3);
    const resumed = fixture.engines[1];
    // Both steps that were left had been sampled.
    expect(resumed?.requests).toHaveLength(0);
    expect([4, 5].map((step) => fixture.plane.rollouts.get(step))).toEqual(rollouts);
    expect([resumed?.weight, resumed?.moment]).toEqual([whole?.weight, whole?.moment]);
  });
});
