import type { Activity } from "@aws-sdk/client-auto-scaling";
import type { Clock } from "../../ports/clock.ts";
import type { AutoScalingApi } from "../aws-containers/apis.ts";
import { isRecent } from "../recent.ts";

const KEPT_MS = 30_000;
const RECENT = 10;

/** What the last failed attempt to start an instance said, if none has succeeded since. */
export function failedActivity(activities: readonly Activity[], sinceMs: number): string | undefined {
  const startedAt = ({ StartTime }: Activity) => StartTime?.getTime() ?? 0;
  const newestFirst = activities.toSorted((a, b) => startedAt(b) - startedAt(a));
  for (const activity of newestFirst) {
    if (startedAt(activity) < sinceMs || activity.StatusCode === "Successful") return undefined;
    const isFailed = activity.StatusCode === "Failed" || activity.StatusCode === "Cancelled";
    if (isFailed) return activity.StatusMessage ?? activity.Description;
  }
  return undefined;
}

/** Asks auto scaling groups why no instance comes, at most every half minute for each. */
export class ScalingReasons {
  readonly #api: () => Promise<AutoScalingApi>;
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<string, { atMs: number; activities: Activity[] }>();

  constructor(api: () => Promise<AutoScalingApi>, clock: Pick<Clock, "now">) {
    this.#api = api;
    this.#clock = clock;
  }

  /** The first reason of any of these groups since then. */
  async why(groups: readonly string[], sinceMs: number): Promise<string | undefined> {
    for (const group of groups) {
      const reason = failedActivity(await this.#activities(group), sinceMs);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  async #activities(group: string): Promise<Activity[]> {
    const nowMs = this.#clock.now();
    const known = this.#known.get(group);
    if (known !== undefined && isRecent(known.atMs, nowMs, KEPT_MS)) return known.activities;
    const api = await this.#api();
    const answer = await api.describeScalingActivities({ AutoScalingGroupName: group, MaxRecords: RECENT });
    const activities = answer.Activities ?? [];
    this.#known.set(group, { atMs: nowMs, activities });
    return activities;
  }
}
