import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { Lanes, type Lane } from "../../../functions/isolate-host/lanes.ts";

interface FakeLane extends Lane {
  id: number;
  isRunning: boolean;
}

/** Lanes over isolates that only count; `work` runs until `finish`. */
function lanesOf(max: number, failures = 0) {
  const made: FakeLane[] = [];
  let starts = 0;
  const create = (): FakeLane => {
    const lane: FakeLane = {
      id: made.length,
      isRunning: false,
      start: () => {
        starts += 1;
        if (starts <= failures) return Promise.reject(new Error("no memory"));
        lane.isRunning = true;
        return Promise.resolve();
      },
      rest: () => {},
    };
    made.push(lane);
    return lane;
  };
  const lanes = new Lanes({ create, max });
  const use = async (count: number) => {
    const open: { id: number; finish: () => void }[] = [];
    const all = Array.from({ length: count }, () =>
      lanes.use(({ id }) => new Promise<number>((resolve) => open.push({ id, finish: () => resolve(id) }))),
    );
    let finished = 0;
    let atOnce = 0;
    while (finished < count) {
      await setImmediate();
      atOnce = Math.max(atOnce, open.length);
      finished += open.length;
      for (const { finish } of open.splice(0)) finish();
    }
    return { ids: await Promise.all(all), atOnce };
  };
  return { made, use };
}

it("keeps to one isolate while the code is called seldom", async () => {
  const { made, use } = lanesOf(4);
  expect((await use(8)).atOnce).toBe(1);
  expect(made).toHaveLength(1);
});

it("adds isolates in steady use, up to the most", async () => {
  const { made, use } = lanesOf(3);
  await use(40);
  expect(made).toHaveLength(3);
  expect((await use(40)).atOnce).toBe(3);
});

it("prefers the first where nothing has to wait", async () => {
  const { use } = lanesOf(2);
  await use(40);
  for (let i = 0; i < 3; i++) expect((await use(1)).ids).toEqual([0]);
});

it("goes on with what runs where a further isolate does not start", async () => {
  const { made, use } = lanesOf(4, 3);
  await use(40);
  expect((await use(40)).ids).toEqual(Array.from({ length: 40 }, () => 0));
  expect(made).toHaveLength(4);
});

it("forgets a further isolate that was ended while it was idle", async () => {
  const { made, use } = lanesOf(2);
  await use(40);
  for (const lane of made) lane.isRunning = false;
  const { ids } = await use(2);
  expect(ids).toEqual([0, 2]);
});

it("is free again after work that failed", async () => {
  const lanes = new Lanes({
    create: () => ({ isRunning: true, start: () => Promise.resolve(), rest: () => {} }),
    max: 1,
  });
  await expect(lanes.use(() => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  expect(await lanes.use(() => Promise.resolve(1))).toBe(1);
});
