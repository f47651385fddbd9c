import { Fleet } from "./fleet.ts";
import type { NewPolicy, Observation, PolicySettings } from "./policy.ts";
import { SHORT_S, wholeSeconds, type Workload } from "./workload.ts";

export interface Conditions {
  coldStartS: number;
  /** Longest wait; then the request is answered with 503 and Retry-After. */
  holdS: number;
  initial: number;
  /** Seconds in which a replica dies. */
  crashes?: readonly number[];
  /** From and until: no place for another replica. */
  drought?: readonly [number, number];
  /** From and until: nobody knows the load. */
  gap?: readonly [number, number];
  /** Seconds in which the controller restarts. */
  restarts?: readonly number[];
  /** The wall clock jumps by so many seconds at a time. */
  jumps?: readonly { atS: number; byS: number }[];
  /** Every start fails, after so many seconds. */
  failAfterS?: number;
}

export interface Outcome {
  gpuSeconds: number;
  requests: number;
  /** Neither served nor answered with a code that says what to do. */
  lost: number;
  /** Waited more than 30 s, or were refused. */
  late: number;
  /** Answered with 503 after the hold, or because the endpoint failed. */
  refused: number;
  waitP95S: number;
  /** Seconds in which the number of wanted replicas changed. */
  actions: number[];
  peak: number;
}

export const LATE_S = 30;
const EPOCH_MS = 1_700_000_000_000;
const MAX_START_FAILURES = 3;

/** Runs one policy through one workload, second by second. The platform around it is the same for all. */
export function simulate(
  newPolicy: NewPolicy,
  settings: PolicySettings,
  workload: Workload,
  conditions: Conditions,
): Outcome {
  const { coldStartS, holdS, initial } = conditions;
  const { before, durations, seconds } = workload;
  const fleet = new Fleet(settings.target);
  for (let replica = 0; replica < initial; replica++) fleet.launch(0, 0, true);
  fleet.arrive(0, false);
  let policy = newPolicy(settings);
  let desired = initial;
  let head = 0;
  let headSecond = 0;
  let demandMs = 0;
  let busyMs = 0;
  let lastAcceptedS: number | undefined;
  let lastAcceptedAtMs: number | undefined;
  let gpuSeconds = 0;
  let late = 0;
  let refused = 0;
  let finishedShort = 0;
  let startFailures = 0;
  let retryAtS = 0;
  let hasFailed = false;
  let clockMs = EPOCH_MS;
  let peak = 0;
  const actions: number[] = [];
  const waits = new Float64Array(holdS + 2);

  for (let second = 0; second < seconds; second++) {
    clockMs += 1_000 + 1_000 * (conditions.jumps?.find(({ atS }) => atS === second)?.byS ?? 0);
    const hasPlace = !isWithin(conditions.drought, second);
    if (hasPlace) fleet.place(second, coldStartS);
    const failed = fleet.arrive(second, conditions.failAfterS !== undefined);
    if (failed > 0) {
      startFailures++;
      retryAtS = second + 2 ** (startFailures - 1);
      hasFailed = startFailures >= MAX_START_FAILURES;
    }
    fleet.finish(second);
    if (conditions.crashes?.includes(second)) fleet.crash();

    const tail = before[second + 1] ?? 0;
    if ((workload.counts[second] ?? 0) > 0) {
      lastAcceptedS = second;
      lastAcceptedAtMs = clockMs;
    }
    let shortS = 0;
    let freeS = fleet.freeSlots();
    while (head < tail) {
      while ((before[headSecond + 1] ?? 0) <= head) headSecond++;
      const wait = second - headSecond;
      if (hasFailed || wait > holdS) {
        refused++;
        head++;
        continue;
      }
      const duration = durations[head] ?? 0;
      if (duration < SHORT_S) {
        if (freeS < duration) break;
        freeS -= duration;
        shortS += duration;
        finishedShort++;
      } else if (!fleet.start(second, wholeSeconds(duration))) break;
      if (wait > LATE_S) late++;
      waits[wait] = (waits[wait] ?? 0) + 1;
      head++;
    }
    const queued = tail - head;
    demandMs += (fleet.inFlight + queued + shortS) * 1_000;
    busyMs += (fleet.inFlight + shortS) * 1_000;

    if (conditions.restarts?.includes(second)) policy = newPolicy(settings);
    const observation: Observation = {
      nowMs: clockMs,
      monotonicMs: second * 1_000,
      desired,
      ready: fleet.ready,
      starting: fleet.starting,
      load: isWithin(conditions.gap, second)
        ? undefined
        : {
            inFlight: fleet.inFlight,
            queued,
            accepted: tail,
            lastAcceptedAtMs,
            idleS: second - (lastAcceptedS ?? 0),
            demandMs,
            busyMs,
          },
    };
    const wanted = hasFailed ? 0 : policy.step(observation);
    if (wanted !== desired && !hasFailed) actions.push(second);
    desired = wanted;
    const up = fleet.ready + fleet.starting;
    if (up > desired) fleet.retire(up - desired);
    const missing = startFailures > 0 ? (fleet.starting > 0 || second < retryAtS ? 0 : 1) : desired - up;
    for (let count = Math.min(missing, desired - up); count > 0; count--)
      fleet.launch(second, conditions.failAfterS ?? coldStartS, hasPlace);
    gpuSeconds += fleet.paid;
    peak = Math.max(peak, fleet.paid);
  }
  const requests = durations.length;
  // Who still waits at the end is judged by how long it has waited so far.
  const queued = requests - head;
  for (; head < requests; head++) {
    while ((before[headSecond + 1] ?? 0) <= head) headSecond++;
    if (seconds - headSecond > LATE_S) late++;
  }
  // A dead replica's requests got a coded error, as did those that were refused. What then is missing is lost.
  const lost = requests - fleet.finished - finishedShort - refused - fleet.cut - fleet.inFlight - queued;
  const waitP95S = percentile(waits, 0.95);
  return { gpuSeconds, requests, lost, late: late + refused, refused, waitP95S, actions, peak };
}

function isWithin(span: readonly [number, number] | undefined, second: number): boolean {
  return span !== undefined && second >= span[0] && second < span[1];
}

function percentile(counts: Float64Array, share: number): number {
  const all = counts.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [value, count] of counts.entries()) {
    seen += count;
    if (seen >= share * all) return value;
  }
  return 0;
}
