import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TeacherQuestion } from "../../../sdk/schema/job-teacher.ts";
import { tokenAdvantages } from "../../../engine/training/distill-step.ts";
import { score } from "../fake-control-plane.ts";
import { characterModel, EOS } from "./character-model.ts";
import { promptRow } from "./fake-engine.ts";
import { trainFixture, type TrainFixture } from "./train-fixture.ts";

let fixture: TrainFixture;
let questions: TeacherQuestion[];
const rows = ["one", "two", "three", "four", "five"].map((text) => promptRow(text));
const distill = {
  kind: "distill",
  teacher: { endpoint: "sage" },
  rewards: undefined,
  algorithm: { kind: "distill" },
  trainer: { steps: 2, learningRate: 0.01 },
} as const;

/** What this teacher holds of a token: even ids are twice as likely as the student wrote them, odd ones half. */
const grade = (id: number) => -id / 100 + (id % 2 === 0 ? Math.LN2 : -Math.LN2);

beforeEach(async () => {
  fixture = await trainFixture();
  questions = [];
  fixture.plane.teach = (question) => {
    questions.push(question);
    if (question.kind === "read") {
      const ids = characterModel.tokenizer.encode(question.text);
      return { sequences: [{ ids, logprobs: ids.map(() => -1) }] };
    }
    if (question.kind === "score")
      return {
        sequences: question.sequences.map((ids) => ({
          ids,
          logprobs: ids.map((id, at) => (at === 0 ? 0 : grade(id))),
        })),
      };
    return {
      sequences: question.prompts.map((ids) => ({
        ids: [50 + ids.length, 60],
        logprobs: [-1, -2],
        isEnded: true,
      })),
    };
  };
});
afterEach(() => fixture[Symbol.asyncDispose]());

describe("the advantage of a token", () => {
  it("is higher where the teacher prefers it, and of this token alone", () => {
    const student = { mask: [0, 1, 1, 0, 1], oldLogprobs: [0, -2, -2, 0, -2] };
    expect(tokenAdvantages(student, [0, -0.5, -2, -9, -4], 1)).toEqual([0, 1.5, 0, 0, -2]);
    expect(tokenAdvantages(student, [0, -0.5, -2, -9, -4], 0.5)).toEqual([0, 0.75, 0, 0, -1]);
  });

  it("is bounded where the teacher holds a token for impossible", () => {
    expect(tokenAdvantages({ mask: [1], oldLogprobs: [-1] }, [-10_000], 1)).toEqual([-49]);
  });
});

describe("on-policy distillation", () => {
  it("learns what the student wrote by the teacher's grades, without rewards (A5, A6)", async () => {
    expect(await fixture.train(distill, { rows })).toBe(0);
    const [first] = fixture.engines[0]?.batches ?? [];
    expect(first).toMatchObject({ loss: "importance_sampling", klCoef: 0, temperature: 1 });
    const rollouts = fixture.plane.rollouts.get(1) ?? [];
    expect(first?.sequences.map(({ ids }) => ids)).toEqual(rollouts.map(({ tokenIds }) => tokenIds));
    for (const { ids, mask, advantages } of first?.sequences ?? [])
      ids.forEach((id, at) =>
        expect(advantages[at]).toBeCloseTo(mask[at] === 1 ? (id % 2 === 0 ? Math.LN2 : -Math.LN2) : 0, 9),
      );
    expect(fixture.plane.requests.some(({ path }) => path.endsWith("/rewards"))).toBe(false);
    const learnt = rollouts.flatMap(({ tokenIds, mask }) => tokenIds.filter((_, at) => mask[at] === 1));
    const even = learnt.filter((id) => id % 2 === 0).length;
    const { metrics = {} } = fixture.metrics()[0] ?? {};
    expect(metrics["reverse_kl"]).toBeCloseTo((Math.LN2 * (learnt.length - 2 * even)) / learnt.length, 9);
    expect(metrics).toMatchObject({ loss: 1, completion_tokens: learnt.length, score_seconds: 0.5 });
    expect(Object.keys(metrics).some((name) => name.startsWith("reward"))).toBe(false);
  });

  it("weighs grades with klCoef, and clips ratios where it is told to", async () => {
    const algorithm = { kind: "distill", klCoef: 3, clipHigh: 0.28 } as const;
    expect(await fixture.train({ ...distill, algorithm }, { rows })).toBe(0);
    const [first] = fixture.engines[0]?.batches ?? [];
    expect(first).toMatchObject({ loss: "ppo", clipHigh: 0.28 });
    expect(Math.max(...(first?.sequences.flatMap(({ advantages }) => advantages) ?? []))).toBeCloseTo(
      3 * Math.LN2,
      9,
    );
  });

  it("measures rewards and held-out rows beside it, and learns neither", async () => {
    const judged: number[] = [];
    fixture.plane.judge = (batch) => {
      judged.push(batch.length);
      return batch.map((_, index) => score(index));
    };
    const rewards = { code: { sha256: "0".repeat(64) } };
    const trainer = { steps: 1, learningRate: 0.01 };
    const evalRows = [promptRow("six"), promptRow("seven")];
    expect(await fixture.train({ ...distill, rewards, trainer, evalEvery: 1 }, { rows, evalRows })).toBe(0);
    const metrics = Object.assign({}, ...fixture.metrics().map((each) => each.metrics)) as object;
    expect(metrics).toMatchObject({ "reward/mean": 3.5, "eval/reward/mean": 0.5 });
    expect(metrics).toHaveProperty("eval/reverse_kl");
    expect(judged).toEqual([8, 2]);
    const advantages = fixture.engines[0]?.batches[0]?.sequences.flatMap((each) => each.advantages) ?? [];
    expect(new Set(advantages.map((each) => Math.abs(each).toFixed(6)))).toEqual(
      new Set(["0.000000", "0.693147"]),
    );
  });

  it("resumes to the same weights", async () => {
    const trainer = { steps: 4, learningRate: 0.01, saveEvery: 2 };
    await fixture.train({ ...distill, trainer }, { rows });
    const whole = fixture.engines.at(-1)?.weight;
    await fixture.train({ ...distill, trainer }, { rows, resume: fixture.checkpointOf(2) });
    expect(fixture.engines.at(-1)?.weight).toBe(whole);
    expect(whole).not.toBe(0);
  });

  it("is refused before the first step where the teacher reads other tokens, and not tried again", async () => {
    fixture.plane.teach = () => ({ sequences: [{ ids: [1, 2, 3], logprobs: [0, -1, -1] }] });
    expect(await fixture.train(distill, { rows })).toBe(1);
    expect(fixture.exit()).toMatchObject({ failure: { code: "tokenizer_mismatch" } });
    expect(fixture.engines).toEqual([]);
  });
});

describe("off-policy distillation", () => {
  it("learns the teacher's answers word for word, and how they end", async () => {
    const algorithm = { kind: "distill", answers: "teacher" } as const;
    expect(await fixture.train({ ...distill, algorithm }, { rows })).toBe(0);
    const asked = questions.flatMap((question) => (question.kind === "answer" ? [question] : []));
    expect(asked.map(({ prompts }) => prompts.length)).toEqual([8, 8]);
    expect(asked[0]).toMatchObject({ maxTokens: 8, temperature: 1 });
    expect(asked[0]?.seed).not.toBe(asked[1]?.seed);
    const [first] = fixture.engines[0]?.batches ?? [];
    expect(first?.loss).toBe("sft");
    first?.sequences.forEach(({ ids, mask, advantages }, index) => {
      const prompt = asked[0]?.prompts[index] ?? [];
      expect(ids).toEqual([...prompt, 50 + prompt.length, 60, EOS]);
      expect(mask).toEqual([...prompt.map(() => 0), 1, 1, 1]);
      expect(advantages).toEqual(mask);
    });
    expect(fixture.plane.rollouts.get(1)?.[0]).toMatchObject({ finishReason: "stop", group: 0 });
    expect(fixture.engines[0]?.requests).toEqual([]);
  });
});
