import { expect, it } from "vitest";
import type { Control } from "../../../functions/control.ts";
import { knownCheckpoint } from "../../../functions/gateway/known-checkpoints.ts";

/** A gateway: a Store and no other door. It holds `run@1`. */
function gateway() {
  const state = {
    nowMs: 0,
    reads: 0,
    isAway: false,
    stored: new Map<string, object>([["run@1", { id: "run@1" }]]),
  };
  const store = {
    async get({ partition, sort }: { partition: string; sort: string }) {
      state.reads++;
      if (state.isAway) throw new Error("The table does not answer.");
      const value = state.stored.get(`${partition.replace("checkpoints/", "")}@${Number(sort)}`);
      return value && { value, version: 1 };
    },
  };
  const control = { store, clock: { now: () => state.nowMs } } as unknown as Control;
  return { state, known: (id: string) => knownCheckpoint(control, id) };
}

it("reads a checkpoint once for many requests, and again after a while", async () => {
  const { state, known } = gateway();
  for (let asked = 0; asked < 3; asked++) expect(await known("run@1")).toEqual({ id: "run@1" });
  expect(state.reads).toBe(1);
  state.nowMs = 10_001;
  state.stored.set("run@1", { id: "run@1", damage: "a file is gone" });
  expect(await known("run@1")).toBeUndefined();
  state.stored.clear();
  expect(await known("run@1")).toBeUndefined();
  expect(state.reads).toBe(3);
});

it("keeps what was known while the Store is away, and nothing of what it never knew", async () => {
  const { state, known } = gateway();
  await known("run@1");
  Object.assign(state, { nowMs: 60_000, isAway: true });
  expect(await known("run@1")).toEqual({ id: "run@1" });
  await expect(known("run@2")).rejects.toThrow("does not answer");
});

it("asks the Store for nothing that cannot be a checkpoint", async () => {
  const { state, known } = gateway();
  for (const id of ["run", "run@x", "a/b@1", "@1"]) expect(await known(id)).toBeUndefined();
  expect(state.reads).toBe(0);
});
