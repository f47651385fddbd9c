import { expect, it } from "vitest";
import { takeTurns, type TurnParams } from "../../../../functions/lambda/host/turn.ts";
import { memoryStore } from "../../../fakes/memory-store.ts";
import { fakeClock } from "../../../fakes/clock.ts";

function turns(ttlMs = 60_000) {
  const clock = fakeClock();
  const store = memoryStore();
  const params: TurnParams = {
    ...{ store, clock, key: { partition: "turns", sort: "x" } },
    ttlMs: () => ttlMs,
    leastMs: 20_000,
  };
  return { params, clock };
}

it("hands on what a turn knew to the next one", async () => {
  const { params } = turns();
  const seen: (number | undefined)[] = [];
  const work = async (memory: number | undefined) => {
    seen.push(memory);
    return (memory ?? 0) + 1;
  };
  for (let call = 0; call < 3; call++)
    expect(await takeTurns(params, work)).toEqual({ turns: 1, isLeft: false });
  expect(seen).toEqual([undefined, 1, 2]);
});

it("does it once more for all who came meanwhile, one at a time", async () => {
  const { params } = turns();
  let atOnce = 0;
  let most = 0;
  let done = 0;
  const others: Promise<{ turns: number }>[] = [];
  const work = async () => {
    most = Math.max(most, ++atOnce);
    if (done === 0) {
      others.push(takeTurns(params, work), takeTurns(params, work));
      expect(await Promise.all(others)).toEqual([
        { turns: 0, isLeft: false },
        { turns: 0, isLeft: false },
      ]);
    }
    done++;
    atOnce--;
    return done;
  };
  expect(await takeTurns(params, work)).toEqual({ turns: 2, isLeft: false });
  expect([most, done]).toEqual([1, 2]);
});

it("leaves word of others to the next event when no time is left for them", async () => {
  const { params } = turns(10_000);
  let done = 0;
  const result = await takeTurns(params, async () => {
    if (done++ === 0) await takeTurns(params, async () => 0);
    return done;
  });
  expect([result, done]).toEqual([{ turns: 1, isLeft: true }, 1]);
  // Nobody has the turn any more.
  expect((await takeTurns(params, async () => 0)).turns).toBe(1);
});

it("takes over from one that died, when its time is over", async () => {
  const { params, clock } = turns();
  void takeTurns(params, () => new Promise(() => {}));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await takeTurns(params, async () => 0)).turns).toBe(0);
  clock.advance(60_001);
  expect((await takeTurns(params, async () => 0)).turns).toBe(1);
});

it("gives the turn back when the work throws", async () => {
  const { params } = turns();
  await takeTurns(params, async () => 7);
  await expect(takeTurns(params, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await takeTurns(params, async (memory) => memory ?? 0)).toEqual({ turns: 1, isLeft: false });
  let kept: number | undefined;
  await takeTurns<number>(params, async (memory) => (kept = memory ?? -1));
  expect(kept).toBe(7);
});

it("is not kept by a turn of somebody whose clock was hours ahead", async () => {
  const { params, clock } = turns();
  const ahead = { ...params, clock: { now: () => clock.now() + 5 * 3_600_000 } };
  const holding = takeTurns(ahead, () => new Promise<number>(() => {}));
  expect(await takeTurns(params, async () => 1)).toEqual({ turns: 1, isLeft: false });
  expect(await Promise.race([holding, Promise.resolve("still at it")])).toBe("still at it");
});
