import { decideEndpoint } from "./decide-endpoint.ts";
import { decideWork } from "./decide-work.ts";
import type { Action, Policy, World } from "./views.ts";

const ORPHAN_GRACE_MS = 5_000;

/** Everything to do now, from what is wanted and what is there. Pure: the same world gives the same actions. */
export function decide(world: World, now: number, policy: Policy): Action[] {
  const owned = new Set([
    ...world.works.flatMap((work) => (work.stage === "active" && work.job ? [work.job.id] : [])),
    ...world.endpoints.flatMap((endpoint) => endpoint.replicas.map((replica) => replica.job.id)),
  ]);
  const orphans = world.containers.filter(({ jobId }) => !owned.has(jobId));
  return [
    ...world.works.flatMap((work) => decideWork(work, now, policy)),
    ...world.endpoints.flatMap((endpoint) => decideEndpoint(endpoint, now, policy)),
    ...orphans.map(({ jobId }): Action => ({ type: "stop-container", jobId, graceMs: ORPHAN_GRACE_MS })),
  ];
}

/** The earliest time at which the same world would ask for something else; undefined if only news can. */
export function nextDeadline(world: World, now: number): number | undefined {
  const times = [...world.works, ...world.endpoints].flatMap((each) => each.retryAtMs ?? []);
  return times.filter((time) => time > now).sort((a, b) => a - b)[0];
}
