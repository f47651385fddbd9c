import { expect, it } from "vitest";
import { decideWork } from "../../../functions/reconciler/decide-work.ts";
import type { JobView, WorkView } from "../../../functions/reconciler/views.ts";
import { NOW, policy } from "../reconciler/policy.ts";

function job(changes: Partial<JobView> = {}): JobView {
  const alive = { startedAtMs: NOW - 5_000, heartbeatAtMs: NOW - 100 };
  return { id: "j", attempt: 1, ...alive, container: { state: "running" }, ...changes };
}

function work(changes: Partial<WorkView> = {}): WorkView {
  const base = { kind: "train", id: "r", stage: "active", isWorking: true, attempt: 1, losses: 0 } as const;
  return { ...base, expired: false, job: job(), ...changes };
}

const QUEUED = { stage: "queued", attempt: 0, job: undefined } as const;
const CONVERT = { ...QUEUED, kind: "convert" } as const;
const SILENT = { kind: "convert", stallMs: 30_000, isStalled: true } as const;

const WAITING = job({ container: { state: "waiting", reason: "capacity" } });
const DONE = { pending: 1, job: job({ exit: { outcome: "succeeded" } }) } as const;
const CHARGE = { attempt: 1, instance: "i", hourlyUsd: 1, gpus: 1, spot: false, startedAtMs: 1 } as const;

const table: [string, WorkView, string[]][] = [
  [
    "what a run needs first is asked for",
    work({ ...QUEUED, conversion: { state: "missing" } }),
    ["begin-conversion"],
  ],
  ["it waits for it", work({ ...QUEUED, conversion: { state: "pending" } }), ["note-waiting"]],
  [
    "which is noted once",
    work({ ...QUEUED, waitingFor: "conversion", conversion: { state: "pending" } }),
    [],
  ],
  [
    "and ends without it",
    work({
      ...QUEUED,
      conversion: { state: "failed", failure: { code: "conversion_failed", message: "" } },
    }),
    ["finish"],
  ],
  [
    "cancelled it waits for nothing",
    work({ ...QUEUED, cancelAtMs: NOW, conversion: { state: "pending" } }),
    ["finish"],
  ],
  ["a conversion that another run has made waits", work({ ...CONVERT, waitsForEarlier: true }), []],
  ["one that nobody waits for ends", work({ kind: "convert", isUnwanted: true }), ["finish"]],
  ["so does one that has not begun", work({ ...CONVERT, isUnwanted: true }), ["finish"]],
  ["one that tells nothing for long goes on", work({ ...SILENT, progressAtMs: NOW - 59_000 }), []],
  [
    "and is tried again after twice as long",
    work({ ...SILENT, progressAtMs: NOW - 60_000, job: job({ startedAtMs: NOW - 60_000 }) }),
    ["requeue"],
  ],
  ["one that waits for room is told by its run", work({ kind: "convert", job: WAITING }), []],
  ["a run that is done waits for what its checkpoints need", work(DONE), []],
  ["nothing is charged for it then", work({ ...DONE, charges: [CHARGE] }), ["note-exited"]],
  ["which is noted once", work({ ...DONE, charges: [{ ...CHARGE, endedAtMs: 2 }] }), []],
  [
    "what the conversion costs is",
    work({ ...DONE, charges: [{ ...CHARGE, conversion: "c", attempt: 1 }] }),
    [],
  ],
  ["cancelled it waits no more", work({ ...DONE, cancelAtMs: NOW }), ["finish"]],
];

it.each(table)("%s", (_name, view, expected) => {
  expect(decideWork(view, NOW, policy).map(({ type }) => type)).toEqual(expected);
});
