import { setTimeout as delay } from "node:timers/promises";
import { Client, Run } from "../../sdk/index.ts";
import { keepAsking, watchRun, ask, type Facts } from "./facts.ts";
import type { Gym } from "./gym.ts";
import { readOutcome } from "./outcome.ts";
import { planOf, type Blow } from "./plan.ts";
import { livingContainers } from "./processes.ts";
import { scriptThroughBlows } from "./script-process.ts";
import { findLosses, type Reference } from "./verify.ts";
import { strikeContainer, strikeDaemon, VICTIMS, type Victim } from "./victims.ts";
import { launchWork } from "./work.ts";

/** A run that loses three containers fails, and so it should. */
const MAX_BLOWS = 2;

export interface TrialResult {
  victim: Victim;
  seed: number;
  killed: number;
  losses: string[];
  facts: Facts;
}

/** What the work comes to when nobody disturbs it. */
export async function undisturbed(gym: Gym): Promise<Reference & { facts: Facts }> {
  const { id } = await launchWork(gym.client, gym.model);
  const facts = await watchRun(gym, id, () => noteGroups(gym));
  const answers = [await ask(gym, 0), await ask(gym, 1), await ask(gym, 2)];
  return { outcome: await readOutcome(gym, id), answers, facts };
}

/** One run of the work, in which one kind of process is killed `blows` times; then the reckoning. */
export async function runTrial(
  gym: Gym,
  reference: Reference,
  { victim, seed, blows }: { victim: Victim; seed: number; blows: number },
): Promise<TrialResult> {
  // The last events come together: what is planned for then would come too late.
  const plan = planOf(seed, blows, Math.ceil(0.8 * reference.outcome.events.length));
  const runsBefore = await countRuns(gym);
  const asking = new AbortController();
  const answering = keepAsking(gym, asking.signal);
  let result: { facts: Facts; killed: number };
  try {
    result = await (victim === "script" ? scriptTrial(gym, plan) : containerTrial(gym, victim, plan));
  } finally {
    asking.abort();
  }
  const facts = { ...result.facts, answers: await answering };
  await settled(gym);
  const launched = (await countRuns(gym)) - runsBefore;
  const losses = await findLosses(gym, facts, reference);
  // A script that was killed before it knew of its run launches another, as people do.
  if (victim !== "script" && launched !== 1) losses.push(`${launched} runs came of one launch`);
  return { victim, seed, killed: result.killed, losses, facts };
}

export interface StrikeParams {
  victim: Victim;
  seed: number;
  kills: number;
  /** Asked before each trial. */
  isOverTime?: () => boolean;
}

/** Trials, each with a plan of its own, until a kind of process was killed often enough. */
export async function strikeUntil(
  gym: Gym,
  reference: Reference,
  { victim, seed, kills, isOverTime = () => false }: StrikeParams,
): Promise<TrialResult[]> {
  const results: TrialResult[] = [];
  let left = kills;
  // A plan may come too late for a fast run; the seeds of the plans follow from the one that is printed.
  for (let number = 0; left > 0; number++) {
    if (number > 4 * kills + 4 || isOverTime())
      throw new Error(`${left} of ${kills} kills of the ${victim} are missing.`);
    const ownSeed = (seed + VICTIMS.indexOf(victim) * 100_003 + number * 7_919) % 2 ** 31;
    const result = await runTrial(gym, reference, {
      victim,
      seed: ownSeed,
      blows: Math.min(left, MAX_BLOWS),
    });
    results.push(result);
    left -= result.killed;
    if (result.losses.length > 0) break;
  }
  return results;
}

async function containerTrial(
  gym: Gym,
  victim: Exclude<Victim, "script">,
  plan: Blow[],
): Promise<{ facts: Facts; killed: number }> {
  const over = new AbortController();
  let seen = 0;
  let killed = 0;
  const striking = (async () => {
    for (const blow of plan) {
      while (seen < blow.afterEvents && !over.signal.aborted) await delay(5);
      await delay(blow.delayMs);
      if (over.signal.aborted) return;
      const strike =
        victim === "daemon" ? strikeDaemon(gym, blow) : strikeContainer(gym, victim, blow, over.signal);
      if (await strike) killed++;
    }
  })();
  try {
    const runId = await launchThroughBlows(gym);
    const facts = await watchRun(gym, runId, () => {
      seen++;
      noteGroups(gym);
    });
    over.abort();
    await striking;
    return { facts, killed };
  } finally {
    over.abort();
    await striking;
  }
}

/** Asks for one run as scripts do: an answer that is lost is asked for again, and must not make another. */
async function launchThroughBlows({ url, key, model }: Gym): Promise<string> {
  const patient = new Client({ url, key, maxAttempts: 20, retryDelayMs: 100 });
  return (await launchWork(patient, model)).id;
}

async function countRuns({ client }: Gym): Promise<number> {
  return (await Run.list({ client, limit: 1_000 })).length;
}

async function scriptTrial(gym: Gym, plan: Blow[]): Promise<{ facts: Facts; killed: number }> {
  const blows = plan.map(({ afterEvents, delayMs, pauseMs }) => ({
    afterMs: afterEvents * 40 + delayMs,
    pauseMs,
  }));
  const { runId, events, killed } = await scriptThroughBlows(gym, blows);
  const facts = await watchRun(gym, runId, () => noteGroups(gym));
  const told = events.filter((event, index) => events.findIndex(({ seq }) => seq === event.seq) === index);
  return { facts: { ...facts, events: told }, killed };
}

function noteGroups(gym: Gym): void {
  for (const { pid } of livingContainers(gym.home)) gym.groups.add(pid);
}

/** A run's state is told before its container is gone, and a launch that nobody was told of may still train. */
async function settled(gym: Gym): Promise<void> {
  const endMs = performance.now() + 60_000;
  while (performance.now() < endMs) {
    const { activeRuns } = (await (await gym.client.open("GET", "/status")).json()) as { activeRuns: number };
    if (activeRuns === 0 && livingContainers(gym.home).every(({ kind }) => kind === "serve")) return;
    await delay(50);
  }
}
