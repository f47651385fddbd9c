import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectAsUndisturbed, expectNoTrainer, pauseNow, runWithCheckpoint, trainerOf } from "./disturb.ts";
import { openGym, type Gym } from "./gym.ts";
import { readOutcome } from "./outcome.ts";
import { listProcesses } from "./processes.ts";
import { undisturbed } from "./trial.ts";
import type { Reference } from "./verify.ts";
import { launchWork, SLOW_MS, STEPS } from "./work.ts";

describe("a run that is disturbed without being killed", () => {
  let gym: Gym;
  let reference: Reference;

  beforeAll(async () => {
    gym = await openGym();
    reference = await undisturbed(gym);
  }, 60_000);

  afterAll(async () => expect(await gym.close()).toEqual([]), 60_000);

  it("pauses, holds no container, and resumed ends as if nothing had been (25)", async () => {
    const run = await runWithCheckpoint(gym);
    await pauseNow(gym, run);
    expect((await run.checkpoints()).at(-1)?.step).toBe(run.step);
    expect(run.step).toBeLessThan(STEPS);
    await run.resume();
    await run.result();
    expect(run.record.attempt).toBe(2);
    await expectAsUndisturbed(gym, run, reference);
  });

  it("saves what it has learnt when it is cancelled (31)", async () => {
    const run = await runWithCheckpoint(gym);
    await run.cancel();
    await expect(run.result()).rejects.toMatchObject({ code: "user_cancelled" });
    await run.refresh();
    expect(run.step).toBeLessThan(STEPS);
    const { files } = await readOutcome(gym, run.id);
    const last = (await run.checkpoints()).at(-1);
    expect(last?.step).toBe(run.step);
    for (const file of last?.record.files ?? [])
      expect(files[`${last?.step}/${file.path}`]).toBe(file.sha256);
    await expectNoTrainer(gym);
  });

  it("has its container swept away when its record is gone (74)", async () => {
    const run = await launchWork(gym.client, gym.model, SLOW_MS);
    const orphan = await trainerOf(gym);
    await gym.daemon().kill();
    const database = new DatabaseSync(join(gym.home, "state.db"));
    for (const table of ["documents", "entries"])
      database.prepare(`DELETE FROM ${table} WHERE partition = 'runs' AND sort = ?`).run(run.id);
    database.close();
    await gym.revive();
    await expectNoTrainer(gym);
    expect(listProcesses().filter(({ group }) => group === orphan.pid)).toEqual([]);
  });
});
