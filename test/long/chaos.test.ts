import { afterAll, describe, it } from "vitest";
import { openGym } from "../chaos/gym.ts";
import { chosenSeed } from "../chaos/plan.ts";
import { summaryOf } from "../chaos/report.ts";
import { strikeUntil, undisturbed, type TrialResult } from "../chaos/trial.ts";
import { VICTIMS, type Victim } from "../chaos/victims.ts";
import { isOverTime } from "./deadline.ts";

const KILLS = 25;
/** Two after the other. */
const LANE_MS = 840_000;

describe(`kill -9 at ${KILLS} random moments`, () => {
  const seed = chosenSeed();
  const results: TrialResult[] = [];
  /** Two gyms side by side: most of a trial is waiting. */
  const lanes = [Promise.resolve(), Promise.resolve()];

  afterAll(() => void process.stdout.write(`${summaryOf(seed, results)}\n`));

  it.concurrent.for(VICTIMS)("of the %s loses nothing", { timeout: LANE_MS }, async (victim, { expect }) => {
    const lane = VICTIMS.indexOf(victim) % lanes.length;
    const turn = (lanes[lane] ?? Promise.resolve()).then(() => strike(victim));
    lanes[lane] = turn.then(
      () => undefined,
      () => undefined,
    );
    const { trials, left } = await turn;
    results.push(...trials);
    expect(trials.flatMap(({ losses }) => losses)).toEqual([]);
    expect(trials.reduce((sum, { killed }) => sum + killed, 0)).toBeGreaterThanOrEqual(KILLS);
    expect(left).toEqual([]);
  });

  async function strike(victim: Victim): Promise<{ trials: TrialResult[]; left: string[] }> {
    const gym = await openGym();
    try {
      const reference = await undisturbed(gym);
      const trials = await strikeUntil(gym, reference, { victim, seed, kills: KILLS, isOverTime });
      return { trials, left: await gym.close() };
    } catch (error) {
      await gym.close();
      throw error;
    }
  }
});
