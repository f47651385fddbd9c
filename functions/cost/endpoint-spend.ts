import type { Charge, Spend } from "../../sdk/schema/cost.ts";
import type { Control } from "../control.ts";
import type { JobRecord } from "../jobs/records.ts";
import { collect } from "../records/update.ts";
import { spendOf } from "./spend.ts";

/** What a job's container costs; nothing for jobs of before there were prices. */
export function chargeOf({ price, attempt, startedAtMs, endedAtMs }: JobRecord): Charge[] {
  if (price === undefined) return [];
  return [
    {
      ...price,
      attempt,
      ...(startedAtMs !== undefined && { startedAtMs }),
      ...(endedAtMs !== undefined && { endedAtMs }),
    },
  ];
}

/** What all replicas of an endpoint have cost, those that are long gone too. */
export async function endpointSpend(control: Control, name: string): Promise<Spend> {
  return spendOf(await endpointCharges(control, name), control.clock.now());
}

/** One for each replica that ever was: each has a record of its own. */
export async function endpointCharges(control: Control, name: string): Promise<Charge[]> {
  const jobs = await collect<JobRecord>((after) =>
    control.store.query<JobRecord>("jobs", { sortPrefix: `serve-${name}-r`, after, limit: 1000 }),
  );
  return jobs.filter(({ owner }) => owner === name).flatMap(chargeOf);
}
