import { SpotterError } from "../../sdk/schema/errors.ts";
import { rollout, type Rollout } from "../../sdk/schema/rollout.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { sha256Of } from "../records/hash.ts";
import { redacted } from "../secrets/redacted.ts";
import { collect } from "../records/update.ts";
import { stepKey } from "../records/step-key.ts";
import { runStream, type StreamedEvent } from "./records.ts";

/** The index row of a step's rollouts; the rollouts themselves are one blob. */
export interface RolloutIndex {
  v: 1;
  step: number;
  attempt: number;
  count: number;
  sha256: string;
  blob: string;
  meanTotal?: number;
  createdAtMs: number;
}

/** Stores a step's rollouts and announces them. Repeating it changes nothing. */
export async function saveRollouts(
  control: Control,
  runId: string,
  attempt: number,
  step: number,
  rollouts: Rollout[],
): Promise<RolloutIndex> {
  const bytes = new TextEncoder().encode(
    rollouts.map((each) => `${JSON.stringify(redacted(control.secrets, each))}\n`).join(""),
  );
  const sha256 = sha256Of(bytes);
  const blob = `runs/${runId}/rollouts/${step}-a${attempt}.jsonl`;
  await control.blobs.put(blob, bytes, { sha256 });
  const totals = rollouts.flatMap(({ verdict }) => (verdict.total === undefined ? [] : [verdict.total]));
  const index: RolloutIndex = {
    v: 1,
    step,
    attempt,
    count: rollouts.length,
    sha256,
    blob,
    ...(totals.length > 0 && { meanTotal: totals.reduce((sum, each) => sum + each, 0) / totals.length }),
    createdAtMs: control.clock.now(),
  };
  await control.store.put(rolloutKey(runId, step), index);
  const event: StreamedEvent = {
    atMs: index.createdAtMs,
    body: { type: "rollouts", step, count: index.count, sha256 },
  };
  await control.store.append(runStream(runId), [event], { batchId: `rollouts-a${attempt}-s${step}` });
  control.bus.notify(runStream(runId));
  return index;
}

/** The rollouts of a step, or of the latest one. */
export async function readRollouts(
  control: Control,
  runId: string,
  step: number | undefined,
): Promise<{ step: number; rollouts: Rollout[] }> {
  const index = await findIndex(control, runId, step);
  const bytes = index && (await control.blobs.bytes(index.blob));
  if (index === undefined || bytes === undefined) {
    const which = step === undefined ? "no rollouts yet" : `no rollouts of step ${step}`;
    throw new SpotterError("not_found", `Run ${runId} has ${which}.`, { where: "step" });
  }
  const lines = new TextDecoder().decode(bytes).split("\n").filter(Boolean);
  const rollouts = lines.map((line) =>
    parseWith(rollout, JSON.parse(line), `A rollout of step ${index.step}`),
  );
  return { step: index.step, rollouts };
}

/** What there is of a run, by step. */
export function rolloutIndexes(control: Control, runId: string): Promise<RolloutIndex[]> {
  return collect<RolloutIndex>((after) => control.store.query(rollouts(runId), { after, limit: 1_000 }));
}

async function findIndex(
  control: Control,
  runId: string,
  step: number | undefined,
): Promise<RolloutIndex | undefined> {
  if (step !== undefined) return (await control.store.get<RolloutIndex>(rolloutKey(runId, step)))?.value;
  const page = await control.store.query<RolloutIndex>(rollouts(runId), { reverse: true, limit: 1 });
  return page.items[0]?.value;
}

export function rolloutKey(runId: string, step: number): DocumentKey {
  return { partition: rollouts(runId), sort: stepKey(step) };
}

function rollouts(runId: string): string {
  return `rollouts/${runId}`;
}
