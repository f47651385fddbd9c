import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Endpoint } from "../../sdk/index.ts";
import { expectAsUndisturbed, pauseNow, runWithCheckpoint, trainerOf } from "../chaos/disturb.ts";
import { openGym, type Gym } from "../chaos/gym.ts";
import { listProcesses } from "../chaos/processes.ts";
import { undisturbed } from "../chaos/trial.ts";
import type { Reference } from "../chaos/verify.ts";
import { launchWork, SLOW_MS } from "../chaos/work.ts";

describe("a state folder that was tampered with", () => {
  let gym: Gym;
  let reference: Reference;

  beforeAll(async () => {
    gym = await openGym();
    reference = await undisturbed(gym);
  }, 60_000);

  afterAll(async () => expect(await gym.close()).toEqual([]), 60_000);

  it("lets no run go on from a damaged checkpoint, and nobody serve it (27)", async () => {
    const run = await runWithCheckpoint(gym);
    await pauseNow(gym, run);
    const checkpoints = await run.checkpoints();
    const last = checkpoints.at(-1);
    truncateSync(join(last?.path ?? "", "model", "model.safetensors"), 1_000);
    const endpoint = await Endpoint.launch(gym.model, { client: gym.client, checkpoint: last?.id ?? "" });
    await expect(endpoint.waitUntilReady({ timeoutMs: 60_000 })).rejects.toThrow("blob_corrupt");
    await run.resume();
    await run.result();
    await expectAsUndisturbed(gym, run, reference);
    const told: string[] = [];
    for await (const { body } of run.events()) if (body.type === "log") told.push(body.message);
    const before = checkpoints.at(-2)?.id;
    expect(told.join("\n")).toContain(before === undefined ? "beginning again" : `going on from ${before}`);
  });

  it("loses no step when the record of a living container is gone; that one ends by itself (74)", async () => {
    const run = await launchWork(gym.client, gym.model, SLOW_MS);
    const lost = await trainerOf(gym);
    await gym.daemon().kill();
    rmSync(join(gym.home, "containers", "containers", `${lost.jobId}.json`));
    await gym.revive();
    await run.result();
    await expectAsUndisturbed(gym, run, reference);
    expect(run.record.attempt).toBe(2);
    await expect.poll(() => listProcesses().filter(({ group }) => group === lost.pid)).toEqual([]);
  });
});
