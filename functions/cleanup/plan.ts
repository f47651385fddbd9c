import type { CleanupItem, CleanupRequest } from "../../sdk/schema/cleanup.ts";
import type { DatasetRecord } from "../../sdk/schema/dataset.ts";
import type { UserCodeRecord } from "../../sdk/schema/user-code.ts";
import { checkpointPrefix, storedCheckpoints } from "../checkpoints/records.ts";
import { removeCheckpoint } from "../checkpoints/remove.ts";
import type { Control } from "../control.ts";
import { datasetBlob, datasetKey } from "../datasets/datasets.ts";
import type { DocumentKey } from "../ports/store.ts";
import { collect } from "../records/update.ts";
import { findRun, getRunSpec, RUNS, type RunDocument } from "../runs/records.ts";
import { rolloutIndexes, rolloutKey } from "../runs/rollouts.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { userCodeBlob, userCodeKey } from "../user-code/records.ts";
import { usedCheckpoints, usedContent } from "./references.ts";
import { expiredSteps } from "./retention.ts";
import { unusedConversions } from "./conversions.ts";
import { unusedWeights } from "./weights.ts";

/** One thing nobody needs, and how it goes. */
export interface Removal {
  item: CleanupItem;
  remove: () => Promise<void>;
}

/** Everything that nobody needs any more, as of now. */
export async function planCleanup(control: Control, request: CleanupRequest): Promise<Removal[]> {
  const beforeMs = control.clock.now() - request.olderThanMs;
  const removals: Removal[] = [];
  const used = await usedCheckpoints(control);
  const known = new Set<string>();
  const runs = await collect<RunDocument>((after) => control.store.query(RUNS, { after, limit: 1_000 }));
  for (const document of runs) {
    if (document.deletedAtMs !== undefined) continue;
    removals.push(...(await ofRun(control, document, request, beforeMs, used, known)));
  }
  removals.push(...(await leftovers(control, runs, known)));
  removals.push(...(await unusedContent(control, beforeMs)));
  removals.push(...(await unusedWeights(control, beforeMs)));
  removals.push(...(await unusedConversions(control, beforeMs)));
  removals.push(...(await scratch(control, beforeMs)));
  return removals;
}

async function ofRun(
  control: Control,
  { run }: RunDocument,
  request: CleanupRequest,
  beforeMs: number,
  used: Map<string, string>,
  known: Set<string>,
): Promise<Removal[]> {
  const isLive = !isTerminalRun(run.state);
  const isOld = !isLive && (run.endedAtMs ?? run.createdAtMs) < beforeMs;
  const removals: Removal[] = [];
  const checkpoints = await storedCheckpoints(control, run.id);
  if (checkpoints.length > 0) {
    const { retention } = await getRunSpec(control, run.id);
    const rule = retention ?? (isOld && request.keepLast !== undefined ? { keepLast: request.keepLast } : {});
    const kept = checkpoints.map(({ step, pinned = false }) => ({ step, pinned }));
    const expired = new Set(expiredSteps(kept, rule, isLive));
    for (const checkpoint of checkpoints) {
      known.add(checkpointPrefix(run.id, checkpoint.step, checkpoint.attempt));
      if (!expired.has(checkpoint.step) || used.has(checkpoint.id)) continue;
      const bytes = checkpoint.files.reduce((sum, { size }) => sum + size, 0);
      const reason = retention ? "beyond the retention of its run" : `not among the last ${request.keepLast}`;
      removals.push({
        item: { kind: "checkpoint", name: checkpoint.id, bytes, reason },
        remove: () => removeCheckpoint(control, checkpoint),
      });
    }
  }
  for (const { step, blob } of await rolloutIndexes(control, run.id)) {
    known.add(blob);
    if (!isOld) continue;
    const bytes = (await control.blobs.head(blob))?.size ?? 0;
    const name = `${run.id} step ${step}`;
    removals.push({
      item: { kind: "rollouts", name, bytes, reason: "its run ended long ago" },
      remove: () => removeBoth(control, rolloutKey(run.id, step), blob),
    });
  }
  return removals;
}

/** Files of attempts that were lost, of uploads that were broken off, and of runs that are no more. */
async function leftovers(control: Control, runs: RunDocument[], known: Set<string>): Promise<Removal[]> {
  const byId = new Map(runs.map((document) => [document.run.id, document]));
  const found = new Map<string, { bytes: number; keys: string[] }>();
  for (const { key, size } of await control.blobs.list("runs/")) {
    const match = /^runs\/([^/]+)\/(?:checkpoints|rollouts)\/\d+-a(\d+)(?=\/|\.jsonl$)/.exec(key);
    const [start = "", runId = "", attempt] = match ?? [];
    const part = key.endsWith(".jsonl") ? key : start;
    if (match === null || known.has(part)) continue;
    const document = byId.get(runId) ?? (await findRun(control, runId));
    // The attempt that owns the run may be about to complete it.
    const isOwned = document && !isTerminalRun(document.run.state) && Number(attempt) >= document.run.attempt;
    if (isOwned || document?.deletedAtMs !== undefined) continue;
    const group = found.get(part) ?? { bytes: 0, keys: [] };
    found.set(part, { bytes: group.bytes + size, keys: [...group.keys, key] });
  }
  return [...found].map(([name, { bytes, keys }]) => ({
    item: { kind: "leftover", name, bytes, reason: "never completed" },
    async remove() {
      for (const key of keys) await control.blobs.delete(key);
    },
  }));
}

async function unusedContent(control: Control, beforeMs: number): Promise<Removal[]> {
  const used = await usedContent(control);
  const unused = <T extends DatasetRecord | UserCodeRecord>(records: T[]): T[] =>
    records.filter(({ sha256, createdAtMs }) => createdAtMs < beforeMs && !used.has(sha256));
  const all = <T>(partition: string) =>
    collect<T>((after) => control.store.query<T>(partition, { after, limit: 1_000 }));
  const reason = "no run and no eval refers to it";
  const datasets = unused(await all<DatasetRecord>("datasets")).map(({ sha256, name, bytes }): Removal => ({
    item: { kind: "dataset", name: name ?? sha256, bytes, reason },
    remove: () => removeBoth(control, datasetKey(sha256), datasetBlob(sha256)),
  }));
  const code = unused(await all<UserCodeRecord>("user-code")).map(({ sha256, name, bytes }): Removal => ({
    item: { kind: "user-code", name: `${name} ${sha256.slice(0, 12)}`, bytes, reason },
    remove: () => removeBoth(control, userCodeKey(sha256), userCodeBlob(sha256)),
  }));
  return [...datasets, ...code];
}

async function scratch(control: Control, beforeMs: number): Promise<Removal[]> {
  const entries = (await control.scratch?.list()) ?? [];
  return entries
    .filter(({ usedAtMs }) => usedAtMs < beforeMs)
    .map(({ name, bytes }) => ({
      item: { kind: "cache", name, bytes, reason: "not used for long; made again when needed" },
      remove: async () => control.scratch?.remove(name),
    }));
}

/** The record first: what it does not name any more, nobody asks for. */
async function removeBoth(control: Control, key: DocumentKey, blob: string): Promise<void> {
  await control.store.delete(key);
  await control.blobs.delete(blob);
}
