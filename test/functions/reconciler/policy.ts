import type { Policy } from "../../../functions/reconciler/views.ts";

export const NOW = 1_000_000;
export const policy: Policy = {
  leaseMs: 10_000,
  maxAttempts: 3,
  maxPreemptions: 5,
  maxStartFailures: 3,
  startMs: 600_000,
  cancelGraceMs: 60_000,
  leasesFromMs: 0,
};
