import { describe, expect, it } from "vitest";
import { Replay } from "./replay.ts";

const SLEEPER = { min: 0, max: 100, targetConcurrency: 8 };

describe("decide", () => {
  it("wakes what sleeps at the first request, with one replica", () => {
    const replay = new Replay(SLEEPER, 0).pass(600);
    expect(replay.accept(1).look()).toMatchObject({ desired: 1, reason: "wake" });
    expect(replay.look()).toMatchObject({ desired: 1, reason: "steady" });
  });

  it("asks for as many as two hundred waiters need, and not for more while these start", () => {
    const replay = new Replay(SLEEPER, 0).accept(200).look();
    expect(replay.desired).toBe(4);
    replay.pass(20);
    const { desired } = replay;
    expect(desired).toBeGreaterThanOrEqual(9);
    expect(desired).toBeLessThanOrEqual(25);
    expect(replay.pass(100).desired).toBe(desired);
  });

  it("counts those that wait by the work they are: 300 short ones need no second replica", () => {
    const replay = new Replay({ ...SLEEPER, idleTimeoutMs: 30_000 }, 1);
    for (let second = 0; second < 120; second += 2) replay.accept(10).set(0, 0).pass(2);
    replay.pass(40);
    expect(replay.desired).toBe(0);
    replay.accept(300).look().pass(10);
    expect(replay.desired).toBe(1);
  });

  it("goes to sleep by the last accepted request alone (18)", () => {
    const replay = new Replay(SLEEPER, 1).accept(0, 1).pass(250).set(0, 0).pass(48);
    expect(replay.desired).toBe(1);
    expect(replay.pass(4)).toMatchObject({ desired: 0, reason: "idle" });
  });

  it("does not sleep while a request is worked on, however long (14, 21)", () => {
    const replay = new Replay(SLEEPER, 1).accept(0, 1).pass(1_800);
    expect(replay.desired).toBe(1);
    expect(replay.set(0, 0).pass(2).desired).toBe(0);
  });

  it("keeps its minimum whatever comes", () => {
    expect(new Replay({ min: 2, max: 5 }, 2).pass(2_000).desired).toBe(2);
  });

  it("falls only when the load was low for the whole window, and by half at most", () => {
    const replay = new Replay({ ...SLEEPER, scaleDownWindowMs: 120_000 }, 20).accept(0, 160).pass(180);
    expect(replay.desired).toBe(20);
    // The low load is an average of half a minute, which may lie anywhere in the window.
    replay.set(0, 8).pass(90);
    expect(replay.desired).toBe(20);
    const steps = [20];
    while (steps.length < 30) steps.push(replay.pass(2).desired);
    for (const [index, step] of steps.entries())
      expect(step).toBeGreaterThanOrEqual(Math.floor((steps[index - 1] ?? 0) / 2));
    expect(replay).toMatchObject({ desired: 1 });
  });

  it("does not fall because of a lull (19)", () => {
    const replay = new Replay(SLEEPER, 20).accept(0, 160).pass(60).set(0, 0).pass(200);
    expect(replay.desired).toBe(20);
    replay.accept(0, 160).pass(40).set(0, 0).pass(200);
    expect(replay.desired).toBe(20);
  });

  it("rises by four or to the double at most in one step", () => {
    const replay = new Replay(SLEEPER, 1).accept(0, 800);
    const steps = Array.from({ length: 6 }, () => replay.pass(2).desired);
    for (const [index, step] of steps.entries()) {
      const before = steps[index - 1] ?? 1;
      expect(step).toBeLessThanOrEqual(Math.max(2 * before, before + 4));
    }
    expect(steps.at(-1)).toBe(100);
  });

  it("takes a burst seriously that is far above what there is, and no noise", () => {
    expect(new Replay(SLEEPER, 10).accept(0, 76).pass(60).accept(0, 10).pass(4).desired).toBe(10);
    const replay = new Replay(SLEEPER, 10).accept(0, 76).pass(60).accept(0, 84).pass(4);
    expect(replay).toMatchObject({ desired: 17, reason: "burst" });
    // What is left of it is within what noise may do, until it has lasted.
    replay.pass(60);
    expect(replay).toMatchObject({ desired: 20 });
  });

  it("has spare replicas while there is load, and none without", () => {
    const replay = new Replay({ ...SLEEPER, buffer: 3, scaleDownWindowMs: 60_000 }, 1).accept(0, 1).pass(10);
    expect(replay.desired).toBe(4);
    expect(replay.set(0, 0).pass(90).desired).toBe(1);
  });

  it("never has more than its maximum, spare ones included", () => {
    expect(new Replay({ ...SLEEPER, max: 3, buffer: 5 }, 1).accept(50, 8).pass(30).desired).toBe(3);
  });
});

describe("decide, when little is known", () => {
  it("holds while nobody can tell, and for a window after", () => {
    const replay = new Replay(SLEEPER, 10).accept(0, 80).pass(60);
    for (let second = 0; second < 90; second += 2) {
      replay.tick(2_000);
      expect(replay.lookBlind()).toMatchObject({ desired: 10, reason: "no-data" });
    }
    replay.set(0, 8).pass(298);
    expect(replay.desired).toBe(10);
    expect(replay.pass(10).desired).toBeLessThan(10);
  });

  it("holds what there is for a window after a restart", () => {
    const replay = new Replay(SLEEPER, 10);
    expect(replay.pass(298).desired).toBe(10);
    expect(replay.pass(10).desired).toBeLessThan(10);
  });

  it.each([3_600_000, -3_600_000])("is not led astray by a clock that jumps by %d ms", (jumpMs) => {
    const replay = new Replay(SLEEPER, 10).accept(0, 80).pass(120);
    replay.nowMs += jumpMs;
    replay.look();
    expect(replay.desired).toBe(10);
    replay.set(0, 0).pass(266);
    expect(replay.desired).toBe(10);
    replay.pass(60);
    expect(replay.desired).toBeLessThan(10);
  });

  it("begins anew when the counters of the gateway do", () => {
    const replay = new Replay(SLEEPER, 10).accept(0, 80).pass(120);
    replay.tick(2_000);
    const load = { inFlight: 0, queued: 0, lastAcceptedAtMs: undefined, accepted: 0, demandMs: 0, busyMs: 0 };
    expect(replay.look(load)).toMatchObject({ desired: 10 });
    expect(replay.state?.watchedSinceMs).toBe(replay.nowMs);
  });

  it("remembers over a sleep how long requests take", () => {
    const replay = new Replay(SLEEPER, 1);
    for (let second = 0; second < 60; second += 2) replay.accept(0, 4).pass(2).set(0, 0);
    const before = replay.state?.service;
    replay.nowMs += 3_600_000;
    replay.look();
    expect(replay.state?.service).toEqual(before);
  });
});

describe("decide, when the settings change", () => {
  it("takes a new maximum and a new minimum at once", () => {
    const replay = new Replay(SLEEPER, 10).accept(0, 80).pass(10);
    replay.config = { ...SLEEPER, max: 4 };
    expect(replay.pass(2)).toMatchObject({ desired: 4, reason: "bounds" });
    replay.config = { ...SLEEPER, min: 30 };
    expect(replay.pass(2)).toMatchObject({ desired: 30, reason: "bounds" });
  });

  it("takes a new target at once", () => {
    const replay = new Replay(SLEEPER, 10).accept(0, 80).pass(60);
    replay.config = { ...SLEEPER, targetConcurrency: 4 };
    expect(replay.pass(4).desired).toBe(20);
  });
});
