import type { Failure } from "../../sdk/schema/errors.ts";
import { spendOf } from "../cost/spend.ts";
import type { JobView, Limit, Policy, WorkView } from "./views.ts";

const HOUR_MS = 3_600_000;
/** At most this share of a budget is kept for saving. */
const MAX_RESERVE = 0.1;
/** A home may look once a minute only: until then it costs as well. */
const LOOK_MS = 60_000;

/** The limit that work has come up to, if it has. */
export function limitReached(work: WorkView, now: number, policy: Policy): Limit | undefined {
  if (isOverTime(work, now)) return "time";
  return isOverBudget(work, now, policy) ? "budget" : undefined;
}

/** Why work that came up to a limit ended. */
export function limitFailure(work: WorkView, limit: Limit, now: number): Failure {
  if (limit === "time")
    return {
      code: "timeout",
      message: `The run worked for ${Math.round((work.durationMs ?? 0) / 1000)} s, which is its limit.`,
      hint: "Its checkpoints are kept; continue from the last one, or raise limits.durationMs.",
    };
  const { charges = [], teacherCharges = [] } = work;
  const { usd } = spendOf([...charges, ...teacherCharges], now);
  const who = teacherCharges.length > 0 ? "The run and its teacher have" : "The run has";
  return {
    code: "budget_exceeded",
    message: `${who} cost $${usd.toFixed(2)} of at most $${(work.maxCostUsd ?? 0).toFixed(2)}.`,
    hint: "Its checkpoints are kept; continue from the last one, with a higher limits.maxCostUsd.",
  };
}

function isOverTime(work: WorkView, now: number): boolean {
  if (work.durationMs === undefined || work.workingSinceMs === undefined) return false;
  return now - work.workingSinceMs >= work.durationMs;
}

/** Saving costs as well: what it may take is kept back, so that the limit holds. */
function isOverBudget(work: WorkView, now: number, policy: Policy): boolean {
  const { charges = [], teacherCharges = [], maxCostUsd } = work;
  if (maxCostUsd === undefined) return false;
  const rate = (charges.at(-1)?.hourlyUsd ?? 0) + (teacherCharges.at(-1)?.hourlyUsd ?? 0);
  const reserve = Math.min((rate * (policy.cancelGraceMs + LOOK_MS)) / HOUR_MS, maxCostUsd * MAX_RESERVE);
  return spendOf([...charges, ...teacherCharges], now).usd + reserve >= maxCostUsd;
}

/** It has lived as long as its home lets any container live: no fault of its own. */
export function hasOutlived({ startedAtMs, maxLifetimeMs }: JobView, now: number, marginMs = 0): boolean {
  if (startedAtMs === undefined || maxLifetimeMs === undefined) return false;
  return now - startedAtMs >= maxLifetimeMs - marginMs;
}
