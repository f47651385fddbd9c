import { isDeepStrictEqual } from "node:util";
import { readDaemonUrl } from "./daemon.ts";
import { ask, type Facts } from "./facts.ts";
import type { Gym } from "./gym.ts";
import { isTimeless, readOutcome, type Outcome } from "./outcome.ts";
import { listProcesses, livingContainers } from "./processes.ts";
import { STEPS } from "./work.ts";

/** An undisturbed run of the same work, and what the endpoint answers. */
export interface Reference {
  outcome: Outcome;
  answers: string[];
}

/** Everything that was promised and is not so; empty when nothing was lost. */
export async function findLosses(gym: Gym, facts: Facts, reference: Reference): Promise<string[]> {
  const outcome = await readOutcome(gym, facts.runId);
  return [
    ...lostEvents(facts, outcome),
    ...lostCheckpoints(facts, outcome),
    ...differences(outcome, reference.outcome),
    ...wrongAnswers(facts, reference),
    ...(await leftovers(gym, reference)),
  ];
}

/** What was told is still there, under the same number, and no number is missing or given twice. */
function lostEvents(facts: Facts, { events }: Outcome): string[] {
  const stored = new Map(events.map((event) => [event.seq, event]));
  return [
    ...facts.events
      .filter((event) => !isDeepStrictEqual(stored.get(event.seq), event))
      .map(({ seq, body }) => `event ${seq} (${body.type}) was told and is gone or altered`),
    ...events
      .filter(({ seq }, index) => seq !== index + 1)
      .map(({ seq }, index) => `event ${seq} stands at place ${index + 1}`)
      .slice(0, 1),
    ...(new Set(facts.events.map(({ seq }) => seq)).size < facts.events.length
      ? ["an event was told twice"]
      : []),
  ];
}

function lostCheckpoints(facts: Facts, { checkpoints, files }: Outcome): string[] {
  const gone = facts.checkpoints
    .filter((told) => !checkpoints.some((checkpoint) => isDeepStrictEqual(checkpoint, told)))
    .map(({ id }) => `checkpoint ${id} was announced and is gone or altered`);
  const damaged = checkpoints.flatMap((checkpoint) =>
    checkpoint.files
      .filter((file) => files[`${checkpoint.step}/${file.path}`] !== file.sha256)
      .map((file) => `${checkpoint.id}/${file.path} does not hash to what its manifest says`),
  );
  return [...gone, ...damaged];
}

/** A disturbed run ends as an undisturbed one: same steps, same figures, same rollouts, same weights, bit for bit. */
function differences(outcome: Outcome, reference: Outcome): string[] {
  const losses: string[] = [];
  if (outcome.state !== "succeeded") losses.push(`the run ended as ${outcome.state}`);
  if (outcome.step !== STEPS) losses.push(`the run ended at step ${outcome.step}`);
  for (const part of ["files", "metrics", "rollouts"] as const) {
    for (const [key, expected] of Object.entries(reference[part])) {
      const actual = (outcome[part] as Record<string, unknown>)[key];
      if (!isDeepStrictEqual(actual, expected))
        losses.push(`${part} of ${key} differ from the undisturbed run`);
    }
  }
  // Steps that were done twice must have given the same figures both times.
  for (const { seq, body } of outcome.events) {
    if (body.type !== "metrics") continue;
    const expected = reference.metrics[body.step];
    const wrong = Object.entries(body.metrics).find(
      ([name, value]) => isTimeless(name) && expected?.[name] !== value,
    );
    if (wrong) losses.push(`event ${seq}: ${wrong[0]} of step ${body.step} is ${wrong[1]}`);
  }
  return losses;
}

function wrongAnswers({ answers }: Facts, reference: Reference): string[] {
  return answers
    .filter(({ prompt, text }) => text !== reference.answers[prompt])
    .map(({ prompt, text }) => `prompt ${prompt} was answered with ${JSON.stringify(text)}`);
}

/** The endpoint answers at the old address, and beside its one replica nothing runs. */
async function leftovers(gym: Gym, reference: Reference): Promise<string[]> {
  const losses: string[] = [];
  if (readDaemonUrl(gym.home) !== gym.url) losses.push(`the daemon moved to ${readDaemonUrl(gym.home)}`);
  const answer = await ask(gym, 0).catch((error: unknown) => String(error));
  if (answer !== reference.answers[0]) losses.push(`the endpoint says ${answer}`);
  const living = livingContainers(gym.home);
  if (living.length !== 1 || living[0]?.kind !== "serve")
    losses.push(`containers left: ${living.map(({ jobId }) => jobId).join(", ") || "none"}`);
  return [
    ...losses,
    ...strangers(
      gym,
      living.map(({ pid }) => pid),
    ),
  ];
}

/** Processes of this state folder that belong neither to the daemon nor to a living container. */
function strangers(gym: Gym, groups: number[]): string[] {
  const { pid: daemon } = gym.daemon();
  return listProcesses()
    .filter(({ args }) => args.includes(gym.home) || /\/engine\/(serve|train|eval)\.[jt]s/.test(args))
    .filter(({ args, group }) => args.includes(gym.home) || gym.groups.has(group))
    .filter(({ pid, parent, group }) => pid !== daemon && parent !== daemon && !groups.includes(group))
    .map(({ pid, args }) => `process ${pid} should not run: ${args}`);
}
