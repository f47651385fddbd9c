import { describe, expect, it } from "vitest";
import { compareScenario, scenarioNamed } from "../../../bench/autoscaler/compare.ts";
import { SCENARIOS } from "../../../bench/autoscaler/scenarios.ts";

/** `bench -- autoscaler` takes more seeds, and the traces. */
const SEED = 3;

/** A request every four minutes keeps it up; one every ten wakes it each time, and it sleeps each time. */
const ACTIONS: Record<string, number> = {
  sawtooth: 2,
  "sparse-4-min": 0,
  "sparse-10-min": 2,
  "short-requests": 0,
};

describe.each(SCENARIOS.map(({ name }) => name))("the scenario %s", (name) => {
  const scenario = scenarioNamed(name);
  const row = compareScenario(scenario, [SEED]);

  it("loses nothing and scores no worse than the references", () => {
    expect(row.lost).toBe(0);
    expect(row.score).toBeLessThanOrEqual(Math.min(row.scoreKnative, row.scoreRay) + 0.001);
  });

  if (scenario.isDense) {
    it("takes at most 1.3 times what the oracle takes", () => {
      expect(row.gpuSecondsVsOracle).toBeLessThanOrEqual(1.3);
    });
  }

  const most = ACTIONS[name];
  if (most !== undefined) {
    it("changes the number of replicas no more than it has to", () => {
      expect(row.actionsPerPeriod).toBeLessThanOrEqual(most);
    });
  }
});
