import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { expectAsUndisturbed, trainerOf } from "../chaos/disturb.ts";
import { killHard, livingContainers, listProcesses, programOf, send, until } from "../chaos/processes.ts";
import { useGym } from "../chaos/use-gym.ts";
import { launchWork, SLOW_MS } from "../chaos/work.ts";

/** The lease of a local daemon is 30 s. */
const LONGER_THAN_LEASE_MS = 45_000;

describe("time that passes without a sign", () => {
  const scene = useGym();

  it("fences and replaces a container that stands still, and ends bit-equal (37)", async () => {
    const run = await launchWork(scene.gym.client, scene.gym.model, SLOW_MS);
    for await (const { body } of run.events()) if (body.type === "checkpoint") break;
    const stalled = await trainerOf(scene.gym);
    expect(send(-stalled.pid, "SIGSTOP")).toBe(true);
    await run.result();
    expect(run.record.attempt).toBe(2);
    const lost: string[] = [];
    for await (const { body } of run.events())
      if (body.type === "attempt" && body.reason) lost.push(body.reason);
    expect(lost).toEqual([expect.stringContaining("container_lost")]);
    await expectAsUndisturbed(scene, run);
    await expect.poll(() => listProcesses().filter(({ group }) => group === stalled.pid)).toEqual([]);
  });

  it("kills nothing when the whole machine slept", async () => {
    const run = await launchWork(scene.gym.client, scene.gym.model, SLOW_MS);
    for await (const { body } of run.events()) if (body.type === "metrics") break;
    const before = livingContainers(scene.gym.home);
    const sleepers = [scene.gym.daemon().pid, ...before.map(({ pid }) => -pid)];
    for (const pid of sleepers) expect(send(pid, "SIGSTOP")).toBe(true);
    await delay(LONGER_THAN_LEASE_MS);
    for (const pid of sleepers) expect(send(pid, "SIGCONT")).toBe(true);
    await run.result();
    expect(run.record.attempt).toBe(1);
    await expectAsUndisturbed(scene, run);
    await delay(LONGER_THAN_LEASE_MS);
    const server = before.find(({ kind }) => kind === "serve");
    expect(livingContainers(scene.gym.home).map(({ pid }) => pid)).toEqual([server?.pid]);
  });

  it("ends a run whose container dies again and again, with its reason and last lines (39, 43)", async () => {
    const run = await launchWork(scene.gym.client, scene.gym.model, SLOW_MS);
    for (let attempt = 1; attempt <= 3; attempt++) {
      const victim = await until("The next container", () =>
        livingContainers(scene.gym.home).find(({ jobId }) => jobId === `train-${run.id}-a${attempt}`),
      );
      const program = await until("Its program", () => programOf(victim));
      await delay(300);
      killHard(program);
    }
    await expect(run.result()).rejects.toMatchObject({ code: "run_failed" });
    expect(run.record).toMatchObject({ state: "failed", attempt: 3 });
    expect(["container_out_of_memory", "container_failed"]).toContain(run.record.failure?.code);
    await expect.poll(() => livingContainers(scene.gym.home).map(({ kind }) => kind)).toEqual(["serve"]);
  });
});
