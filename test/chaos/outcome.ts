import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { runEventPage, type RunEvent } from "../../sdk/schema/event.ts";
import type { Rollout } from "../../sdk/schema/rollout.ts";
import { Run } from "../../sdk/index.ts";
import type { Gym } from "./gym.ts";
import { STEPS } from "./work.ts";

/** What is there once a run has ended. */
export interface Outcome {
  state: string;
  step: number;
  events: RunEvent[];
  checkpoints: Checkpoint[];
  /** SHA-256 of each checkpoint file as it lies on the disk, by `step/path`. */
  files: Record<string, string>;
  /** Last value of every metric that is not a measurement of time, by step. */
  metrics: Record<number, Record<string, number>>;
  rollouts: Record<number, Rollout[]>;
}

export async function readOutcome(gym: Gym, runId: string): Promise<Outcome> {
  const run = await Run.get(runId, gym);
  const checkpoints = (await run.checkpoints()).map(({ record }) => record);
  const rollouts: Outcome["rollouts"] = {};
  for (let step = 1; step <= STEPS; step++) rollouts[step] = await run.rollouts(step).catch(() => []);
  const events = await readEvents(gym, runId);
  return {
    state: run.state,
    step: run.step,
    events,
    checkpoints,
    files: hashFiles(checkpoints),
    metrics: metricsOf(events),
    rollouts,
  };
}

export function isTimeless(name: string): boolean {
  return !/seconds|per_s/.test(name);
}

async function readEvents(gym: Gym, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.seq ?? 0;
    const page = await gym.client.request(runEventPage, "GET", `/runs/${runId}/events`, { query: { after } });
    events.push(...page.events);
    if (page.done || page.events.length === 0) return events;
  }
}

function hashFiles(checkpoints: Checkpoint[]): Outcome["files"] {
  const entries = checkpoints.flatMap(({ step, path, files }) =>
    files.map((file) => [`${step}/${file.path}`, hash(join(path, file.path))] as const),
  );
  return Object.fromEntries(entries);
}

function hash(path: string): string {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch (error) {
    return (error as Error).message;
  }
}

function metricsOf(events: RunEvent[]): Outcome["metrics"] {
  const bySteps: Outcome["metrics"] = {};
  for (const { body } of events) {
    if (body.type !== "metrics") continue;
    const timeless = Object.entries(body.metrics).filter(([name]) => isTimeless(name));
    bySteps[body.step] = { ...bySteps[body.step], ...Object.fromEntries(timeless) };
  }
  return bySteps;
}
