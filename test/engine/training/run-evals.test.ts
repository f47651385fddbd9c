import { expect, it, onTestFinished } from "vitest";
import { promptRow } from "./fake-engine.ts";
import { trainFixture } from "./train-fixture.ts";

it("a checkpoint is saved at every step at which an eval is due, besides those of saveEvery (A26-A32 c)", async () => {
  const fixture = await trainFixture();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const evals = [
    { evalId: "a", everySteps: 2 },
    { evalId: "b", everySteps: 5 },
  ];
  const trainer = { steps: 7, saveEvery: 6, learningRate: 0.01 };
  expect(await fixture.train({ evals, trainer }, { rows: [promptRow("a"), promptRow("b")] })).toBe(0);
  expect([...fixture.plane.checkpoints.keys()]).toEqual([2, 4, 5, 6, 7]);
});
