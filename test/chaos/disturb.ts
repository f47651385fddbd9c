import { expect } from "vitest";
import type { Run } from "../../sdk/index.ts";
import type { Gym } from "./gym.ts";
import { readOutcome } from "./outcome.ts";
import { livingContainers, until, type LivingContainer } from "./processes.ts";
import type { Scene } from "./use-gym.ts";
import { launchWork, SLOW_MS, STEPS } from "./work.ts";

/** Launches the work, slow enough to interfere, and resolves when it has come as far as a checkpoint. */
export async function runWithCheckpoint(gym: Gym): Promise<Run> {
  const run = await launchWork(gym.client, gym.model, SLOW_MS);
  for await (const { body } of run.events()) if (body.type === "checkpoint") break;
  return run;
}

/** The training container, as soon as there is one. */
export async function trainerOf(gym: Gym): Promise<LivingContainer> {
  const container = await until("A training container", () => findTrainer(gym));
  gym.groups.add(container.pid);
  return container;
}

export async function expectNoTrainer(gym: Gym): Promise<void> {
  await expect.poll(() => findTrainer(gym), { timeout: 20_000 }).toBeUndefined();
}

export async function pauseNow(gym: Gym, run: Run): Promise<void> {
  await run.pause();
  await expect.poll(async () => (await run.refresh()).state, { timeout: 30_000 }).toBe("paused");
  await expectNoTrainer(gym);
}

/** The parts of an outcome that must not depend on what happened on the way. */
export async function expectAsUndisturbed({ gym, reference }: Scene, run: Run): Promise<void> {
  const { files, metrics, state, step } = await readOutcome(gym, run.id);
  expect({ state, step }).toEqual({ state: "succeeded", step: STEPS });
  for (const [key, sha256] of Object.entries(reference.outcome.files)) expect(files[key], key).toBe(sha256);
  expect(metrics).toEqual(reference.outcome.metrics);
}

function findTrainer(gym: Gym): LivingContainer | undefined {
  return livingContainers(gym.home).find(({ kind }) => kind === "train");
}
