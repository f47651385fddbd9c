import { mix } from "./affinity.ts";
import type { ReadyReplica } from "./ready-replicas.ts";

export interface PickParams {
  /** Requests a replica may work on at the same time. */
  limit: number;
  /** What each works on now. */
  loadOf: (jobId: string) => number;
  /** Failed a moment ago: taken only where there is no other. */
  isSuspect: (jobId: string) => boolean;
  /** Hash of the conversation; asked for only where there is a choice. */
  affinity: () => number;
  /** Not these. */
  except?: ReadonlySet<string>;
}

/**
 * The replica for a request, or undefined when each has all the work it may have. The one that saw the
 * conversation before (highest random weight, Thaler and Ravishankar 1998) unless it has clearly more to do
 * than the least loaded one: by more than a quarter of the limit.
 */
export function pickReplica(ready: readonly ReadyReplica[], params: PickParams): ReadyReplica | undefined {
  const { limit, loadOf, isSuspect, except } = params;
  const [only] = ready;
  if (ready.length === 1 && only !== undefined && except === undefined)
    return loadOf(only.jobId) < limit ? only : undefined;
  const able = ready.filter(({ jobId }) => loadOf(jobId) < limit && except?.has(jobId) !== true);
  const sound = able.filter(({ jobId }) => !isSuspect(jobId));
  const choice = sound.length > 0 ? sound : able;
  if (choice.length < 2) return choice[0];
  const least = choice.reduce((min, { jobId }) => Math.min(min, loadOf(jobId)), Infinity);
  const slack = Math.max(1, Math.floor(limit / 4));
  const affinity = params.affinity();
  // Whoever is clearly more loaded is left out, so that the next best in affinity is stable as well.
  return best(
    choice.filter(({ jobId }) => loadOf(jobId) - least <= slack),
    (replica) => mix(affinity ^ replica.hash),
  );
}

function best(choice: readonly ReadyReplica[], weightOf: (replica: ReadyReplica) => number) {
  let found: ReadyReplica | undefined;
  let weight = -1;
  for (const replica of choice) {
    const its = weightOf(replica);
    if (its > weight) [found, weight] = [replica, its];
  }
  return found;
}
