import { spawn } from "node:child_process";
import { appendFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Facts } from "./facts.ts";
import { chosenSeed } from "./plan.ts";
import { summaryOf } from "./report.ts";
import { strikeUntil, undisturbed, type TrialResult } from "./trial.ts";
import { useGym } from "./use-gym.ts";
import { findLosses } from "./verify.ts";
import { VICTIMS } from "./victims.ts";

const scene = useGym();

describe("kill -9 at a random moment", () => {
  const seed = chosenSeed();
  const results: TrialResult[] = [];

  afterAll(() => void process.stdout.write(`${summaryOf(seed, results)}\n`));

  it.each(VICTIMS)("of the %s loses nothing (24, 25, 29, 37, 40)", async (victim) => {
    const trials = await strikeUntil(scene.gym, scene.reference, { victim, seed, kills: 1 });
    results.push(...trials);
    expect(trials.flatMap(({ losses }) => losses)).toEqual([]);
  });
});

/** A test of the test: each kind of loss, made on purpose, must be found. */
describe("the reckoning after a trial", () => {
  it("finds nothing where nothing is lost", async () => {
    expect(scene.facts.events.length).toBeGreaterThan(20);
    expect(scene.facts.checkpoints.length).toBeGreaterThan(1);
    expect(await findLosses(scene.gym, scene.facts, scene.reference)).toEqual([]);
  });

  it.each([
    ["an acknowledged event that was dropped", "forget"],
    ["an event that is told otherwise than before", "alter"],
    ["an event that is told twice", "repeat"],
  ])("finds %s", async (_, fault) => {
    await scene.gym.revive(fault);
    const losses = await findLosses(scene.gym, scene.facts, scene.reference);
    expect(losses.join("\n")).toMatch(
      /event \d+ (\(metrics\) was told and is gone or altered|stands at place)/,
    );
  });

  it("finds an event that a container reported, was thanked for, and nobody ever saw", async () => {
    await scene.gym.revive("swallow");
    const disturbed = await undisturbed(scene.gym);
    await scene.gym.revive();
    expect(await findLosses(scene.gym, disturbed.facts, scene.reference)).toEqual([
      "metrics of 3 differ from the undisturbed run",
    ]);
  });

  it("finds a process that nobody owns", async () => {
    const orphan = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", scene.gym.home], {
      detached: true,
    });
    // A child of the test; only the reckoning is to find it.
    const losses = await findLosses(scene.gym, scene.facts, scene.reference);
    orphan.kill("SIGKILL");
    expect(losses).toEqual([expect.stringContaining(`process ${orphan.pid} should not run`)]);
  });

  it("finds an answer that differs, and a checkpoint that was announced and is not there", async () => {
    const [checkpoint] = scene.facts.checkpoints;
    const told: Facts = {
      ...scene.facts,
      answers: [{ prompt: 0, text: "something else" }],
      checkpoints:
        checkpoint === undefined ? [] : [{ ...checkpoint, id: `${scene.facts.runId}@99`, step: 99 }],
    };
    expect(await findLosses(scene.gym, told, scene.reference)).toEqual([
      `checkpoint ${scene.facts.runId}@99 was announced and is gone or altered`,
      'prompt 0 was answered with "something else"',
    ]);
  });

  it("finds a checkpoint file with another content", async () => {
    const path = join(scene.facts.checkpoints[0]?.path ?? "", "model", "model.safetensors");
    const size =
      scene.facts.checkpoints[0]?.files.find((file) => file.path === "model/model.safetensors")?.size ?? 0;
    appendFileSync(path, "x");
    const losses = await findLosses(scene.gym, scene.facts, scene.reference);
    truncateSync(path, size);
    expect(losses.join("\n")).toContain("does not hash to what its manifest says");
    expect(await findLosses(scene.gym, scene.facts, scene.reference)).toEqual([]);
  });
});
