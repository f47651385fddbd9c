import type { Living } from "./aws-containers.ts";
import { chosen } from "./aws-containers/platform.ts";
import type { STOPPED } from "./aws-containers/reasons.ts";

/** A container instance of the stack's cluster. Batch looks after its own. */
export interface Instance {
  arn: string;
  registeredAtMs: number;
  /** Tasks that run on it or are about to. */
  tasks: number;
}

export interface Observed {
  /** Everything of this stack that runs or waits. */
  living: readonly Living[];
  instances: readonly Instance[];
  /** Container instances whose GPUs are broken, in whichever cluster. */
  brokenInstances: readonly string[];
}

/** What the records say of those job ids; undefined where they could not be read: then nothing is an orphan. */
export type Known = ReadonlyMap<string, "owned" | "fenced" | "missing"> | undefined;

/** Since when something has looked superfluous, by its id; from the sweep before. */
export type Suspects = Readonly<Record<string, number>>;

export interface SweepPolicy {
  /** Time for a record to appear, or for the control plane to end by itself what it has given up. */
  orphanGraceMs: number;
  /** Time that an instance may be without tasks: its group should have ended it by then. */
  idleInstanceMs: number;
  /** Longest time that what has no limit of its own may run. */
  maxLifetimeMs: number;
}

const SWEEP_POLICY: SweepPolicy = {
  orphanGraceMs: 10 * 60_000,
  idleInstanceMs: 30 * 60_000,
  maxLifetimeMs: 14 * 24 * 60 * 60_000,
};

export type SweepAction =
  | {
      type: "end";
      platform: Living["platform"];
      id: string;
      jobId: string;
      why: Exclude<keyof typeof STOPPED, "asked" | "spot">;
    }
  | { type: "end-instance"; arn: string; why: "idle" | "broken" };

/**
 * What costs money and serves nobody: doubles, orphans, what has lived too long, instances without tasks. The
 * reconciler ends what it knows of; this is for what nobody does. Missing data never ends anything.
 */
export function decideSweep(
  { living, instances, brokenInstances }: Observed,
  known: Known,
  suspects: Suspects,
  now: number,
  policy: SweepPolicy = SWEEP_POLICY,
): { actions: SweepAction[]; suspects: Suspects } {
  const next: Record<string, number> = {};
  /** Whether it has looked so for long enough. */
  const persists = (id: string, graceMs: number): boolean => {
    const sinceMs = (next[id] = suspects[id] ?? now);
    return now - sinceMs >= graceMs;
  };
  const whyEnded = (each: Living, isDouble: boolean) => {
    if (hasOutlived(each, now, policy)) return "lifetime";
    if (isDouble) return "double";
    const isOrphan = known !== undefined && known.get(each.jobId) !== "owned";
    return isOrphan && persists(each.id, policy.orphanGraceMs) ? "orphan" : undefined;
  };
  const ends = [...Map.groupBy(living, ({ jobId }) => jobId).values()].flatMap((all) => {
    const kept = chosen(all, () => false);
    return all.flatMap((each): SweepAction[] => {
      const { platform, id, jobId } = each;
      const why = whyEnded(each, each !== kept);
      return why === undefined ? [] : [{ type: "end", platform, id, jobId, why }];
    });
  });
  const broken = new Set(brokenInstances);
  // Those of Batch as well: it would give them to the next job.
  const brokenEnds = [...broken].map((arn): SweepAction => ({ type: "end-instance", arn, why: "broken" }));
  const idleEnds = instances.flatMap(({ arn, tasks }): SweepAction[] =>
    !broken.has(arn) && tasks === 0 && persists(arn, policy.idleInstanceMs)
      ? [{ type: "end-instance", arn, why: "idle" }]
      : [],
  );
  return { actions: [...ends, ...brokenEnds, ...idleEnds], suspects: next };
}

/** What waits in a queue costs nothing and has not begun to live: what nobody wants of it is an orphan. */
function hasOutlived({ startedAtMs, maxLifetimeMs }: Living, now: number, policy: SweepPolicy): boolean {
  return startedAtMs !== undefined && now - startedAtMs >= (maxLifetimeMs ?? policy.maxLifetimeMs);
}
