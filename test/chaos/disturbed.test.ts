import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run } from "../../sdk/index.ts";
import { openGym, type Gym } from "./gym.ts";
import { readOutcome } from "./outcome.ts";
import { listProcesses, livingContainers, until, type LivingContainer } from "./processes.ts";
import { undisturbed } from "./trial.ts";
import type { Reference } from "./verify.ts";
import { launchWork, SLOW_MS, STEPS } from "./work.ts";

let gym: Gym;
let reference: Reference;

beforeAll(async () => {
  gym = await openGym();
  reference = await undisturbed(gym);
}, 60_000);

afterAll(async () => expect(await gym.close()).toEqual([]), 60_000);

/** Launches the work and resolves when it has come as far as a checkpoint. */
async function runWithCheckpoint(): Promise<Run> {
  const run = await launchWork(gym.client, gym.model, SLOW_MS);
  for await (const { body } of run.events()) if (body.type === "checkpoint") break;
  return run;
}

function trainer(): LivingContainer | undefined {
  return livingContainers(gym.home).find(({ kind }) => kind === "train");
}

async function inState(run: Run, state: string): Promise<void> {
  await expect.poll(async () => (await run.refresh()).state, { timeout: 30_000 }).toBe(state);
}

const noTrainer = () =>
  expect.poll(() => trainer(), { timeout: 20_000, message: "no training container is left" }).toBeUndefined();

/** The parts of an outcome that must not depend on what happened on the way. */
async function expectAsUndisturbed(run: Run): Promise<void> {
  const { files, metrics, state, step } = await readOutcome(gym, run.id);
  expect({ state, step }).toEqual({ state: "succeeded", step: STEPS });
  for (const [key, sha256] of Object.entries(reference.outcome.files)) expect(files[key], key).toBe(sha256);
  expect(metrics).toEqual(reference.outcome.metrics);
}

describe("a run that is disturbed without being killed", () => {
  it("pauses, holds no container, and resumed ends as if nothing had been (25)", async () => {
    const run = await runWithCheckpoint();
    await run.pause();
    await inState(run, "paused");
    await noTrainer();
    const saved = (await run.checkpoints()).at(-1);
    expect(saved?.step).toBe(run.step);
    expect(run.step).toBeLessThan(STEPS);
    await run.resume();
    await run.result();
    expect(run.record.attempt).toBe(2);
    await expectAsUndisturbed(run);
  });

  it("saves what it has learnt when it is cancelled (31)", async () => {
    const run = await runWithCheckpoint();
    await run.cancel();
    await expect(run.result()).rejects.toMatchObject({ code: "user_cancelled" });
    await run.refresh();
    expect(run.step).toBeLessThan(STEPS);
    const { files } = await readOutcome(gym, run.id);
    const last = (await run.checkpoints()).at(-1);
    expect(last?.step).toBe(run.step);
    for (const file of last?.record.files ?? [])
      expect(files[`${last?.step}/${file.path}`]).toBe(file.sha256);
    await noTrainer();
  });

  it("loses no step when a daemon does not know its container any more; that one ends by itself (74)", async () => {
    const run = await launchWork(gym.client, gym.model, SLOW_MS);
    const lost = await until("A training container", trainer);
    gym.groups.add(lost.pid);
    await gym.daemon().kill();
    rmSync(join(gym.home, "containers", "containers", `${lost.jobId}.json`));
    await gym.revive();
    await run.result();
    await expectAsUndisturbed(run);
    expect(run.record.attempt).toBe(2);
    await expect.poll(() => listProcesses().filter(({ group }) => group === lost.pid)).toEqual([]);
  });

  it("is swept away when its record is gone (74)", async () => {
    await launchWork(gym.client, gym.model, SLOW_MS);
    const orphan = await until("A training container", trainer);
    gym.groups.add(orphan.pid);
    await gym.daemon().kill();
    const runId = orphan.jobId.replace(/^train-(.*)-a\d+$/, "$1");
    const database = new DatabaseSync(join(gym.home, "state.db"));
    for (const table of ["documents", "entries"])
      database.prepare(`DELETE FROM ${table} WHERE partition = 'runs' AND sort = ?`).run(runId);
    database.close();
    await gym.revive();
    await noTrainer();
    expect(listProcesses().filter(({ group }) => group === orphan.pid)).toEqual([]);
  });
});
