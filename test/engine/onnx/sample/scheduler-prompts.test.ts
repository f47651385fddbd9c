import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InferSession } from "../../../../engine/onnx/models/infer-session.ts";
import { Scheduler } from "../../../../engine/onnx/sample/scheduler.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { Scorer } from "../../../../engine/onnx/train/scorer.ts";
import { tinyConfig } from "../fixtures/tiny-model.ts";
import { add, CountingRunner, finish, oneByOne } from "./scheduling.ts";

let session: InferSession;
beforeAll(async () => {
  session = await InferSession.create(randomPolicy(tinyConfig, 7), { threads: 1 });
});
afterAll(() => session.close());

describe("prompts", () => {
  it("scores the tokens of a prompt, beside others and before it goes on", async () => {
    const scorer = new Scorer(randomPolicy(tinyConfig, 7), { threads: 1, maxPositions: 256 });
    const promptIds = Array.from({ length: 30 }, (_, i) => 7 + ((i * 31) % 200));
    const [expected] = await scorer.score([promptIds], 1);
    await scorer.close();
    const scheduler = new Scheduler(session, tinyConfig, { slots: 4 });
    const other = add(scheduler, { promptIds });
    const scored = add(scheduler, { promptIds, maxNewTokens: 0, promptLogprobs: 2 });
    const more = add(scheduler, { promptIds, promptLogprobs: 0, maxNewTokens: 12 });
    const one = add(scheduler, { promptIds: [9], maxNewTokens: 0, promptLogprobs: 0 });
    await finish(scheduler);
    expect(scored).toMatchObject({ ids: [], end: "length" });
    for (const { prompt } of [scored, more]) {
      expect(prompt?.cachedTokens).toBe(0);
      expect(prompt?.logprobs).toHaveLength(30);
      for (const [i, logprob] of (prompt?.logprobs ?? []).entries())
        expect(logprob).toBeCloseTo(expected?.[i] ?? NaN, 4);
    }
    expect(scored.prompt?.topLogprobs?.map((top) => top.length)).toEqual([0, ...Array<number>(29).fill(2)]);
    expect(more.prompt).not.toHaveProperty("topLogprobs");
    expect(more.ids).toEqual(other.ids);
    expect(one).toMatchObject({ end: "length", prompt: { logprobs: [0] } });
  });

  it("answers the same from what it kept of ended requests, which it does not read again", async () => {
    const runner = new CountingRunner(session);
    const keeping = new Scheduler(runner, tinyConfig, { slots: 3, keepBytes: 2 ** 20 });
    const chat = Array.from({ length: 40 }, (_, i) => 7 + ((i * 17) % 200));
    const first = add(keeping, { promptIds: chat });
    await finish(keeping);
    expect([first.prompt?.cachedTokens, runner.promptTokens]).toEqual([0, 39]);
    // The next turn, and another question after the same beginning; neither reads it again.
    const turns = [
      [...chat, ...first.ids, 9, 9, 9],
      [...chat.slice(0, 30), 200, 201, 202, 203, 204, 205, 206, 207],
    ];
    for (const [turn, known] of [51, 30].entries()) {
      runner.promptTokens = 0;
      const request = { promptIds: turns[turn] ?? [], temperature: 1, seed: turn, topLogprobs: 5 };
      const outcome = add(keeping, request);
      await finish(keeping);
      expect(outcome.prompt?.cachedTokens).toBe(known);
      expect(runner.promptTokens).toBeLessThan(9);
      const [alone] = await oneByOne(session, [request]);
      expect(outcome.ids).toEqual(alone?.ids);
      for (const [i, top] of outcome.top.entries())
        for (const [k, { id, logprob }] of (top ?? []).entries()) {
          expect(id).toBe(alone?.top[i]?.[k]?.id);
          expect(logprob).toBeCloseTo(alone?.top[i]?.[k]?.logprob ?? NaN, 5);
        }
    }
  });

  it("keeps what was read of an aborted request, and nothing where weights may change", async () => {
    const promptIds = Array.from({ length: 40 }, (_, i) => 7 + i);
    for (const [keepBytes, known] of [
      [2 ** 20, 39],
      [0, 0],
    ] as const) {
      const scheduler = new Scheduler(session, tinyConfig, { slots: 2, keepBytes });
      const left = add(scheduler, { promptIds, maxNewTokens: 20 });
      await scheduler.step();
      left.abort();
      const outcome = add(scheduler, { promptIds });
      await finish(scheduler);
      expect(outcome.prompt?.cachedTokens).toBe(known);
    }
  });
});
