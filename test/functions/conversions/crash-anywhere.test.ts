import { describe, expect, it, onTestFinished } from "vitest";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { stepKey } from "../../../functions/records/step-key.ts";
import type { TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";
import { Mortal } from "../reconciler/mortal.ts";
import { addWeights, keep, launchedJobs, saveState, slimePlane, slimeSpec } from "./converting.ts";

/** Writes of the scripts below; the first test of each makes sure that this is all of them. */
const CONVERSION_WRITES = 38;
const WEIGHTS_WRITES = 27;

/** The last words of a container, which may be heard although nobody lived to say so. */
async function tell(mortal: Mortal, jobId: string, ...bodies: object[]): Promise<void> {
  for (const [index, body] of bodies.entries())
    await mortal.attempt(async (plane) => {
      const events = [{ seq: index + 1, body }];
      const response = await fakeJob(plane, jobId, 1).answer("POST", "/events", { attempt: 1, events });
      if (!response.ok && response.status !== 410) throw new Error(`events answered ${response.status}`);
    });
}

const DONE = { type: "exit", outcome: "succeeded" };

async function convertThrough(dieAt: number): Promise<{ mortal: Mortal; id: string }> {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const { run } = await plane.json<RunDetail>("POST", "/runs", await slimeSpec(plane));
  const mortal = new Mortal(plane, dieAt);
  const job = (current: TestPlane) => fakeJob(current, `convert-${run.id}-c-model-a1`, 1);
  await mortal.attempt(async (current) => current.reconciler.settle());
  await mortal.attempt((current) => job(current).heartbeat());
  await mortal.attempt((current) => keep(job(current)));
  await tell(
    mortal,
    `convert-${run.id}-c-model-a1`,
    { type: "log", level: "info", message: "converted" },
    DONE,
  );
  await mortal.attempt((current) => fakeJob(current, `train-${run.id}-a1`, 1).heartbeat());
  return { mortal, id: run.id };
}

describe("a conversion whose control plane dies", () => {
  it("has no more writes than are tried here", async () => {
    const { mortal } = await convertThrough(Infinity);
    expect(mortal.writes).toBeGreaterThan(20);
    expect(mortal.writes).toBeLessThanOrEqual(CONVERSION_WRITES);
  });

  it.each(Array.from({ length: CONVERSION_WRITES }, (_, index) => index + 1))(
    "at write %i is made once, told once and paid once, and its run begins after it",
    async (dieAt) => {
      const { mortal, id } = await convertThrough(dieAt);
      let page: RunEventPage | undefined;
      await mortal.attempt(async (current) => (page = await current.json("GET", `/runs/${id}/events`)));
      const told = page?.events.map(({ body }) => (body.type === "state" ? body.state : body.type));
      // What comes last is told with the run's next change, if not now.
      expect(told?.slice(2, 8)).toEqual([
        ...["queued", "phase", "log", "attempt", "provisioning", "starting"],
      ]);
      expect(mortal.plane.containers.launched.map(({ kind }) => kind)).toEqual(["convert", "train"]);
      const { charges } = await mortal.plane.json<RunDetail>("GET", `/runs/${id}`);
      expect(charges).toMatchObject([{ conversion: `${id}-c-model`, endedAtMs: 1_000_000 }, { attempt: 1 }]);
    },
  );
});

async function addThrough(dieAt: number): Promise<{ mortal: Mortal; id: string }> {
  const plane = await slimePlane({ onEnd: onTestFinished });
  const { run } = await plane.json<RunDetail>("POST", "/runs", await slimeSpec(plane, { slime: {} }));
  await plane.reconciler.settle();
  const train = `train-${run.id}-a1`;
  await fakeJob(plane, train, 1).heartbeat();
  await plane.reconciler.settle();
  const mortal = new Mortal(plane, dieAt);
  const convert = `convert-${run.id}-c-s${stepKey(4)}-a1`;
  await mortal.attempt((current) => saveState(fakeJob(current, train, 1), 4));
  await tell(mortal, train, DONE);
  await mortal.attempt((current) => fakeJob(current, convert, 1).heartbeat());
  await mortal.attempt((current) => addWeights(fakeJob(current, convert, 1), 4));
  await tell(mortal, convert, DONE);
  return { mortal, id: run.id };
}

describe("a conversion of a checkpoint whose control plane dies", () => {
  it("has no more writes than are tried here", async () => {
    const { mortal } = await addThrough(Infinity);
    expect(mortal.writes).toBeGreaterThan(15);
    expect(mortal.writes).toBeLessThanOrEqual(WEIGHTS_WRITES);
  });

  it.each(Array.from({ length: WEIGHTS_WRITES }, (_, index) => index + 1))(
    "at write %i adds the weights once, tells it once, and its run ends after it",
    async (dieAt) => {
      const { mortal, id } = await addThrough(dieAt);
      let page: RunEventPage | undefined;
      await mortal.attempt(async (current) => (page = await current.json("GET", `/runs/${id}/events`)));
      const told = page?.events.map(({ body }) => (body.type === "log" ? body.message : body.type));
      expect(told?.filter((each) => each === "checkpoint")).toHaveLength(1);
      expect(told?.filter((each) => each.endsWith("has its Hugging Face weights."))).toHaveLength(1);
      const { run, charges } = await mortal.plane.json<RunDetail>("GET", `/runs/${id}`);
      expect(run).toMatchObject({ state: "succeeded", attempt: 1 });
      expect(charges).toMatchObject([
        { attempt: 1, endedAtMs: 1_000_000 },
        { conversion: `${id}-c-s${stepKey(4)}`, endedAtMs: 1_000_000 },
      ]);
      expect(launchedJobs(mortal.plane, "convert")).toHaveLength(1);
      const { files } = await mortal.plane.json<Checkpoint>("GET", `/checkpoints/${id}@4`);
      expect(files).toHaveLength(5);
    },
  );
});
