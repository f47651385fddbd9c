import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Endpoint } from "../../sdk/index.ts";
import { expectAsUndisturbed, pauseNow, runWithCheckpoint, trainerOf } from "../chaos/disturb.ts";
import { listProcesses } from "../chaos/processes.ts";
import { useGym } from "../chaos/use-gym.ts";
import { launchWork, SLOW_MS } from "../chaos/work.ts";

describe("a state folder that was tampered with", () => {
  const scene = useGym();

  it("lets no run go on from a damaged checkpoint, and nobody serve it (27)", async () => {
    const run = await runWithCheckpoint(scene.gym);
    await pauseNow(scene.gym, run);
    const checkpoints = await run.checkpoints();
    const last = checkpoints.at(-1);
    truncateSync(join(last?.path ?? "", "model", "model.safetensors"), 1_000);
    const endpoint = await Endpoint.launch(scene.gym.model, {
      client: scene.gym.client,
      checkpoint: last?.id ?? "",
    });
    await expect(endpoint.waitUntilReady({ timeoutMs: 60_000 })).rejects.toThrow("blob_corrupt");
    await run.resume();
    await run.result();
    await expectAsUndisturbed(scene, run);
    const told: string[] = [];
    for await (const { body } of run.events()) if (body.type === "log") told.push(body.message);
    const before = checkpoints.at(-2)?.id;
    expect(told.join("\n")).toContain(before === undefined ? "beginning again" : `going on from ${before}`);
  });

  it("loses no step when the record of a living container is gone; that one ends by itself (74)", async () => {
    const run = await launchWork(scene.gym.client, scene.gym.model, SLOW_MS);
    // Before its start is written down, the next daemon would start it under the same number again.
    await expect.poll(async () => (await run.refresh()).state, { timeout: 30_000 }).toBe("running");
    const lost = await trainerOf(scene.gym);
    await scene.gym.daemon().kill();
    rmSync(join(scene.gym.home, "containers", "containers", `${lost.jobId}.json`));
    await scene.gym.revive();
    await run.result();
    await expectAsUndisturbed(scene, run);
    expect(run.record.attempt).toBe(2);
    await expect.poll(() => listProcesses().filter(({ group }) => group === lost.pid)).toEqual([]);
  });
});
