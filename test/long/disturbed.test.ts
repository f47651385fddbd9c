import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import {
  expectAsUndisturbed,
  expectNoTrainer,
  pauseNow,
  runWithCheckpoint,
  trainerOf,
} from "../chaos/disturb.ts";
import { readOutcome } from "../chaos/outcome.ts";
import { listProcesses } from "../chaos/processes.ts";
import { useGym } from "../chaos/use-gym.ts";
import { launchWork, SLOW_MS, STEPS } from "../chaos/work.ts";

describe("a run that is disturbed without being killed", () => {
  const scene = useGym();

  it("pauses, holds no container, and resumed ends as if nothing had been (25)", async () => {
    const run = await runWithCheckpoint(scene.gym);
    await pauseNow(scene.gym, run);
    expect((await run.checkpoints()).at(-1)?.step).toBe(run.step);
    expect(run.step).toBeLessThan(STEPS);
    await run.resume();
    await run.result();
    expect(run.record.attempt).toBe(2);
    await expectAsUndisturbed(scene, run);
  });

  it("saves what it has learnt when it is cancelled (31)", async () => {
    const run = await runWithCheckpoint(scene.gym);
    await run.cancel();
    await expect(run.result()).rejects.toMatchObject({ code: "user_cancelled" });
    await run.refresh();
    expect(run.step).toBeLessThan(STEPS);
    const { files } = await readOutcome(scene.gym, run.id);
    const last = (await run.checkpoints()).at(-1);
    expect(last?.step).toBe(run.step);
    for (const file of last?.record.files ?? [])
      expect(files[`${last?.step}/${file.path}`]).toBe(file.sha256);
    await expectNoTrainer(scene.gym);
  });

  it("has its container swept away when its record is gone (74)", async () => {
    const run = await launchWork(scene.gym.client, scene.gym.model, SLOW_MS);
    const orphan = await trainerOf(scene.gym);
    await scene.gym.daemon().kill();
    const database = new DatabaseSync(join(scene.gym.home, "state.db"));
    for (const table of ["documents", "entries"])
      database.prepare(`DELETE FROM ${table} WHERE partition = 'runs' AND sort = ?`).run(run.id);
    database.close();
    await scene.gym.revive();
    await expectNoTrainer(scene.gym);
    expect(listProcesses().filter(({ group }) => group === orphan.pid)).toEqual([]);
  });
});
