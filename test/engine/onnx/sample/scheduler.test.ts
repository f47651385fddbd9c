import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GenerateRequest } from "../../../../engine/onnx/engine-api.ts";
import { InferSession } from "../../../../engine/onnx/models/infer-session.ts";
import { Scheduler, type InferRunner } from "../../../../engine/onnx/sample/scheduler.ts";
import { seededUniform } from "../../../../engine/onnx/sample/seeded.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { END_ID, tinyConfig } from "../fixtures/tiny-model.ts";
import { add, CountingRunner, finish, oneByOne, requests, type Outcome } from "./scheduling.ts";

let session: InferSession;
beforeAll(async () => {
  session = await InferSession.create(randomPolicy(tinyConfig, 7), { threads: 1 });
});
afterAll(() => session.close());

describe("Scheduler", () => {
  it.each([
    { name: "greedy", overrides: { temperature: 0 } },
    { name: "sampled", overrides: { temperature: 0.8, topP: 0.95 } },
  ])("gives each request what it gets alone: $name", async ({ overrides }) => {
    const list = requests(40, overrides);
    const alone = await oneByOne(session, list);
    for (const params of [
      { slots: 5 },
      { slots: 16, prefillTokens: 9 },
      { slots: 64 },
      { slots: 4, keepBytes: 60_000 },
    ]) {
      const scheduler = new Scheduler(session, tinyConfig, params);
      const together = list.map((request) => add(scheduler, request));
      await finish(scheduler);
      expect(together.map(({ ids }) => ids)).toEqual(alone.map(({ ids }) => ids));
      for (const [i, { logprobs }] of together.entries()) {
        for (const [k, logprob] of logprobs.entries()) {
          expect(logprob).toBeCloseTo(alone[i]?.logprobs[k] ?? 0, 4);
        }
      }
    }
  });

  it("does not depend on when requests arrive", async () => {
    const list = requests(12, { temperature: 1 });
    const alone = await oneByOne(session, list);
    const scheduler = new Scheduler(session, tinyConfig, { slots: 4 });
    const outcomes: Outcome[] = [];
    for (const request of list) {
      outcomes.push(add(scheduler, request));
      await scheduler.step();
      await scheduler.step();
    }
    await finish(scheduler);
    expect(outcomes.map(({ ids }) => ids)).toEqual(alone.map(({ ids }) => ids));
  });

  it("reads the prompt of a group once", async () => {
    const runner = new CountingRunner(session);
    const scheduler = new Scheduler(runner, tinyConfig, { slots: 8 });
    const promptIds = Array.from({ length: 30 }, (_, i) => 7 + i);
    const group = Array.from({ length: 8 }, (_, seed) => add(scheduler, { promptIds, seed, temperature: 1 }));
    const steps = await finish(scheduler);
    expect(runner.promptTokens).toBe(29);
    expect(steps).toBe(12);
    expect(new Set(group.map(({ ids }) => ids.join())).size).toBeGreaterThan(1);
  });

  it("ends at a stop token, which it includes, at the limit, and where the context is full", async () => {
    const scheduler = new Scheduler(session, tinyConfig, { slots: 4 });
    const free = add(scheduler, {});
    await finish(scheduler);
    expect(free).toMatchObject({ end: "length" });
    expect(free.ids).toHaveLength(12);
    const stopAt = free.ids[4] ?? END_ID;
    const stopped = add(scheduler, { stopIds: [stopAt] });
    const full = add(scheduler, { promptIds: new Array<number>(250).fill(20), maxNewTokens: 100 });
    const nothing = add(scheduler, { maxNewTokens: 0 });
    await finish(scheduler);
    expect(stopped.end).toBe("stop");
    expect(stopped.ids).toEqual(free.ids.slice(0, free.ids.indexOf(stopAt) + 1));
    expect(full.end).toBe("length");
    expect(full.ids).toHaveLength(6);
    expect(nothing).toMatchObject({ ids: [], end: "length" });
  });

  it("reports alternatives that include the likeliest", async () => {
    const scheduler = new Scheduler(session, tinyConfig, { slots: 1 });
    const outcome = add(scheduler, { topLogprobs: 3, maxNewTokens: 2 });
    await finish(scheduler);
    expect(outcome.top[0]).toHaveLength(3);
    expect(outcome.top[0]?.[0]).toMatchObject({ id: outcome.ids[0], logprob: outcome.logprobs[0] });
  });

  it("frees the slot of an aborted request at once, and leaves the others alone", async () => {
    const list = requests(6, { maxNewTokens: 20 });
    const alone = await oneByOne(session, list);
    const scheduler = new Scheduler(session, tinyConfig, { slots: 3 });
    const outcomes = list.map((request) => add(scheduler, request));
    await scheduler.step();
    expect(scheduler.live).toBe(3);
    outcomes[0]?.abort();
    outcomes[4]?.abort();
    expect(scheduler.live).toBe(2);
    const step = scheduler.step();
    outcomes[1]?.abort();
    await step;
    expect(scheduler.live).toBe(2);
    await finish(scheduler);
    for (const i of [2, 3, 5]) expect(outcomes[i]?.ids).toEqual(alone[i]?.ids);
    for (const i of [0, 1, 4]) expect(outcomes[i]).not.toHaveProperty("end");
    expect(outcomes[4]?.ids).toEqual([]);
  });

  it("keeps every sequence apart while others come, end and are aborted at random", async () => {
    const uniform = seededUniform(2);
    const below = (limit: number): number => Math.floor(uniform() * limit);
    const list = requests(50, { temperature: 1 });
    const alone = await oneByOne(session, list);
    const scheduler = new Scheduler(session, tinyConfig, { slots: 6, prefillTokens: 12, keepBytes: 100_000 });
    const outcomes: Outcome[] = [];
    const aborted = new Set<number>();
    while (outcomes.length < list.length || scheduler.busy) {
      const step = scheduler.step();
      for (let i = below(3); i > 0 && outcomes.length < list.length; i--) {
        outcomes.push(add(scheduler, list[outcomes.length] ?? {}));
      }
      const victim = below(outcomes.length * 4 + 1);
      if (outcomes[victim] !== undefined && outcomes[victim].end === undefined) {
        outcomes[victim].abort();
        aborted.add(victim);
      }
      await step;
    }
    expect(aborted.size).toBeGreaterThan(5);
    for (const [i, outcome] of outcomes.entries()) {
      const expected = alone[i]?.ids ?? [];
      if (aborted.has(i)) expect(outcome.ids).toEqual(expected.slice(0, outcome.ids.length));
      else expect(outcome.ids).toEqual(expected);
    }
  });

  const refused: [Partial<GenerateRequest>, string][] = [
    [{ promptIds: [] }, "invalid_input"],
    [{ promptIds: [tinyConfig.vocabularySize] }, "invalid_input"],
    [{ promptIds: new Array<number>(256).fill(9) }, "context_length_exceeded"],
    [{ temperature: -1 }, "invalid_input"],
    [{ topP: 0 }, "invalid_input"],
  ];
  it.each(refused)("refuses %j as %s", (request, code) => {
    const scheduler = new Scheduler(session, tinyConfig, { slots: 1 });
    expect(() => add(scheduler, request)).toThrowError(expect.objectContaining({ code }) as Error);
  });

  it("fails what is live when the engine fails, and goes on with the next", async () => {
    let fail = true;
    const runner: InferRunner = {
      maxPositions: session.maxPositions,
      run: (feeds) => (fail ? Promise.reject(new Error("out of memory")) : session.run(feeds)),
      runWithLogits: (feeds) => session.runWithLogits(feeds),
    };
    const scheduler = new Scheduler(runner, tinyConfig, { slots: 1 });
    const first = add(scheduler, {});
    const second = add(scheduler, {});
    await scheduler.step();
    fail = false;
    await finish(scheduler);
    expect(first.error?.message).toContain("out of memory");
    expect(second.end).toBe("length");
  });

  it("says so when the weights have diverged", async () => {
    const policy = randomPolicy(tinyConfig, 7);
    for (const { data } of policy.parameters) data.fill(Number.NaN);
    const scheduler = new Scheduler(await InferSession.create(policy, { threads: 1 }), tinyConfig, {
      slots: 1,
    });
    const outcome = add(scheduler, {});
    await finish(scheduler);
    expect(outcome.error).toMatchObject({ code: "numeric_failure" });
  });
});
