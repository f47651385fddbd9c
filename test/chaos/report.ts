import type { TrialResult } from "./trial.ts";
import { VICTIMS } from "./victims.ts";

/** What happened, for people: points killed and losses by process. */
export function summaryOf(seed: number, results: readonly TrialResult[]): string {
  const rows = VICTIMS.map((victim) => {
    const own = results.filter((result) => result.victim === victim);
    const sum = (count: (result: TrialResult) => number) =>
      own.reduce((total, each) => total + count(each), 0);
    return [
      victim,
      own.length,
      sum(({ killed }) => killed),
      sum(({ facts }) => facts.events.length),
      sum(({ facts }) => facts.checkpoints.length),
      sum(({ facts }) => facts.answers.length),
      sum(({ losses }) => losses.length),
    ];
  });
  const header = ["process", "runs", "kills", "events", "checkpoints", "answers", "losses"];
  const lines = [header, ...rows].map((row) => row.map((cell) => String(cell).padStart(12)).join(""));
  return [`chaos: seed ${seed}; SPOTTER_CHAOS_SEED=${seed} repeats it`, ...lines].join("\n");
}
