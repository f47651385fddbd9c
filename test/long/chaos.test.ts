import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGym, type Gym } from "../chaos/gym.ts";
import { chosenSeed } from "../chaos/plan.ts";
import { summaryOf } from "../chaos/report.ts";
import { strikeUntil, undisturbed, type TrialResult } from "../chaos/trial.ts";
import type { Reference } from "../chaos/verify.ts";
import { VICTIMS } from "../chaos/victims.ts";

const KILLS = 25;

describe(`kill -9 at ${KILLS} random moments`, () => {
  const seed = chosenSeed();
  const results: TrialResult[] = [];
  let gym: Gym;
  let reference: Reference;

  beforeAll(async () => {
    gym = await openGym();
    reference = await undisturbed(gym);
  }, 60_000);

  afterAll(async () => {
    process.stdout.write(`${summaryOf(seed, results)}\n`);
    expect(await gym.close()).toEqual([]);
  }, 60_000);

  it.each(VICTIMS)("of the %s loses nothing", { timeout: 1_200_000 }, async (victim) => {
    const trials = await strikeUntil(gym, reference, { victim, seed, kills: KILLS });
    results.push(...trials);
    expect(trials.flatMap(({ losses }) => losses)).toEqual([]);
    expect(trials.reduce((sum, { killed }) => sum + killed, 0)).toBeGreaterThanOrEqual(KILLS);
  });
});
