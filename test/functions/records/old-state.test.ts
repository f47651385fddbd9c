import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SqliteStore } from "../../../functions/local/sqlite-store.ts";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { TrainJob } from "../../../sdk/schema/job.ts";
import type { Run, RunDetail } from "../../../sdk/schema/run.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { fakeJob } from "../../fakes/job.ts";
import { useFolder } from "../local/use-folder.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");
const versions = readdirSync(fixtures).filter((name) => name.startsWith("state-v"));
const folder = useFolder();

async function runNamed(plane: TestPlane, name: string): Promise<Run> {
  const { items } = await plane.json<{ items: Run[] }>("GET", "/runs");
  const found = items.find((run) => run.name === name);
  if (found === undefined) throw new Error(`There is no run ${name}`);
  return found;
}

describe.each(versions)("the state folder %s", (version) => {
  const open = () => testPlane({ from: join(fixtures, version), onEnd: onTestFinished });

  it("opens and shows all it has", async () => {
    const plane = await open();
    const ended = await runNamed(plane, "ended");
    const { run, spec } = await plane.json<RunDetail>("GET", `/runs/${ended.id}`);
    expect([run.state, spec.trainer.steps, spec.model.name]).toEqual(["succeeded", 4, "spotter/nano"]);
    const { items } = await plane.json<{ items: Checkpoint[] }>("GET", `/runs/${ended.id}/checkpoints`);
    expect(items.map(({ step }) => step)).toEqual([2, 4]);
    for (const { id } of items) {
      const file = await plane.call("GET", `/checkpoints/${id}/files/model/w.safetensors`);
      expect(await file.text()).toMatch(/^weights of step/);
    }
    expect(await plane.json("GET", `/runs/${ended.id}/rollouts`)).toMatchObject({ step: 4 });
    const { events } = await plane.json<{ events: unknown[] }>("GET", `/runs/${ended.id}/events`);
    expect(events.length).toBeGreaterThan(8);
    const counts = ["endpoints", "evals", "keys", "datasets"].map(async (noun) => {
      return (await plane.json<{ items: unknown[] }>("GET", `/${noun}`)).items.length;
    });
    expect(await Promise.all(counts)).toEqual([1, 1, 1, 2]);
    const states = await plane.json<{ items: Run[] }>("GET", "/runs?state=succeeded");
    expect(states.items.map(({ id }) => id)).toEqual([ended.id]);
  });

  it("goes on: what was training begins again at its last checkpoint and ends", async () => {
    const plane = await open();
    const { id } = await runNamed(plane, "training");
    // Its container is not known to this machine, so another attempt follows after a moment.
    plane.reconciler.wake();
    await plane.reconciler.settle();
    plane.clock.advance(2_000);
    await plane.reconciler.settle();
    const { attempt } = await runNamed(plane, "training");
    expect(attempt).toBe(2);
    const job = fakeJob(plane, `train-${id}-a2`, 2);
    await job.heartbeat();
    const spec = await job.call<TrainJob>("GET", "");
    expect(spec.resume?.id).toBe(`${id}@2`);
    await job.report({ type: "run", event: { type: "metrics", step: 4, metrics: {} } });
    await job.save(4);
    await job.exit("succeeded");
    expect((await runNamed(plane, "training")).state).toBe("succeeded");
  });

  it("opens again after it was changed, and keeps its documents readable", async () => {
    const path = folder("state.db");
    cpSync(join(fixtures, version, "state.db"), path);
    const store = new SqliteStore(path);
    await store.put({ partition: "datasets", sort: "new" }, { v: 1 });
    await store.close();
    const again = new SqliteStore(path);
    expect((await again.query("datasets")).items.length).toBeGreaterThan(1);
    await again.close();
  });
});

it("has a folder of an older version to try", () => {
  expect(versions).toContain("state-v0");
});
