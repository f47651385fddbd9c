import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGym, type Gym } from "../chaos/gym.ts";
import { readOutcome } from "../chaos/outcome.ts";
import { killHard, livingContainers, listProcesses, programOf, send, until } from "../chaos/processes.ts";
import { undisturbed } from "../chaos/trial.ts";
import type { Reference } from "../chaos/verify.ts";
import { launchWork, SLOW_MS } from "../chaos/work.ts";

/** The lease of a local daemon is 30 s. */
const LONGER_THAN_LEASE_MS = 45_000;

describe("time that passes without a sign", () => {
  let gym: Gym;
  let reference: Reference;

  beforeAll(async () => {
    gym = await openGym();
    reference = await undisturbed(gym);
  }, 60_000);

  afterAll(async () => expect(await gym.close()).toEqual([]), 60_000);

  const trainer = () =>
    until("A training container", () => livingContainers(gym.home).find(({ kind }) => kind === "train"));

  async function expectAsUndisturbed(runId: string): Promise<void> {
    const { files, metrics } = await readOutcome(gym, runId);
    expect(isDeepStrictEqual(metrics, reference.outcome.metrics)).toBe(true);
    for (const [key, sha256] of Object.entries(reference.outcome.files)) expect(files[key], key).toBe(sha256);
  }

  it("fences and replaces a container that stands still, and ends bit-equal (37)", async () => {
    const run = await launchWork(gym.client, gym.model, SLOW_MS);
    for await (const { body } of run.events()) if (body.type === "checkpoint") break;
    const stalled = await trainer();
    expect(send(-stalled.pid, "SIGSTOP")).toBe(true);
    await run.result();
    expect(run.record.attempt).toBe(2);
    const lost: string[] = [];
    for await (const { body } of run.events())
      if (body.type === "attempt" && body.reason) lost.push(body.reason);
    expect(lost).toEqual([expect.stringContaining("container_lost")]);
    await expectAsUndisturbed(run.id);
    await expect.poll(() => listProcesses().filter(({ group }) => group === stalled.pid)).toEqual([]);
  });

  it("kills nothing when the whole machine slept", async () => {
    const run = await launchWork(gym.client, gym.model, SLOW_MS);
    for await (const { body } of run.events()) if (body.type === "metrics") break;
    const before = livingContainers(gym.home);
    const sleepers = [gym.daemon().pid, ...before.map(({ pid }) => -pid)];
    for (const pid of sleepers) expect(send(pid, "SIGSTOP")).toBe(true);
    await delay(LONGER_THAN_LEASE_MS);
    for (const pid of sleepers) expect(send(pid, "SIGCONT")).toBe(true);
    await run.result();
    expect(run.record.attempt).toBe(1);
    await expectAsUndisturbed(run.id);
    await delay(LONGER_THAN_LEASE_MS);
    const server = before.find(({ kind }) => kind === "serve");
    expect(livingContainers(gym.home).map(({ pid }) => pid)).toEqual([server?.pid]);
  });

  it("ends a run whose container dies again and again, with its reason and last lines (39, 43)", async () => {
    const run = await launchWork(gym.client, gym.model, SLOW_MS);
    for (let attempt = 1; attempt <= 3; attempt++) {
      const victim = await until("The next container", () =>
        livingContainers(gym.home).find(({ jobId }) => jobId === `train-${run.id}-a${attempt}`),
      );
      const program = await until("Its program", () => programOf(victim));
      await delay(300);
      killHard(program);
    }
    await expect(run.result()).rejects.toMatchObject({ code: "run_failed" });
    expect(run.record).toMatchObject({ state: "failed", attempt: 3 });
    expect(["container_out_of_memory", "container_failed"]).toContain(run.record.failure?.code);
    await expect.poll(() => livingContainers(gym.home).map(({ kind }) => kind)).toEqual(["serve"]);
  });
});
