import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GenerateRequest } from "../../../../engine/onnx/engine-api.ts";
import { InferSession } from "../../../../engine/onnx/models/infer-session.ts";
import { KvCache } from "../../../../engine/onnx/models/kv-cache.ts";
import { Adjustment } from "../../../../engine/onnx/sample/adjustment.ts";
import type { TokenMask } from "../../../../engine/onnx/sample/constraint/token-mask.ts";
import { Scheduler, type InferRunner } from "../../../../engine/onnx/sample/scheduler.ts";
import { seededUniform } from "../../../../engine/onnx/sample/seeded.ts";
import { randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { tinyConfig } from "../fixtures/tiny-model.ts";

let session: InferSession;
beforeAll(async () => {
  const policy = randomPolicy(tinyConfig, 7);
  // Random weights hardly prefer anything; scaled up, logits spread as a real model's do.
  for (const { name, data } of policy.parameters) {
    if (name.includes("embed")) for (let i = 0; i < data.length; i++) data[i] = (data[i] ?? 0) * 40;
  }
  session = await InferSession.create(policy, { threads: 1 });
});
afterAll(() => session.close());

const base: GenerateRequest = {
  promptIds: [8, 9, 10, 9],
  maxNewTokens: 24,
  temperature: 0.8,
  topP: 1,
  topK: 0,
  seed: 5,
  stopIds: [],
};

interface Step {
  id: number;
  /** Of the distribution sampled from, and of the model. */
  drawn: number;
  model: number;
}

/** The same, one formula after the other in float64, over the whole sequence at each step and without a cache. */
async function reference(request: GenerateRequest): Promise<Step[]> {
  const {
    promptIds,
    temperature,
    presencePenalty = 0,
    frequencyPenalty = 0,
    repetitionPenalty = 1,
  } = request;
  const uniform = seededUniform(request.seed);
  const answer: number[] = [];
  const steps: Step[] = [];
  for (let n = 0; n < request.maxNewTokens; n++) {
    const raw = await fullLogits([...promptIds, ...answer]);
    const logits = raw.map((logit, id) => {
      let value = logit + (request.logitBias?.find(([biased]) => biased === id)?.[1] ?? 0);
      if (promptIds.includes(id) || answer.includes(id))
        value = value > 0 ? value / repetitionPenalty : value * repetitionPenalty;
      const count = answer.filter((said) => said === id).length;
      return value - count * frequencyPenalty - (count > 0 ? presencePenalty : 0);
    });
    const probabilities = softmax(logits, temperature === 0 ? 1 : temperature);
    const id = temperature === 0 ? greatest(logits) : draw(probabilities, uniform());
    steps.push({
      id,
      drawn: Math.log(probabilities[id] ?? 0),
      model: Math.log(softmax(raw, 1)[id] ?? 0),
    });
    answer.push(id);
  }
  return steps;
}

async function fullLogits(ids: number[]): Promise<number[]> {
  const { logits } = await session.runWithLogits({
    ids: BigInt64Array.from(ids, BigInt),
    seqlensK: Int32Array.of(ids.length - 1),
    total: ids.length,
    last: BigInt64Array.of(BigInt(ids.length - 1)),
    invTemperature: Float32Array.of(1),
    cache: new KvCache(tinyConfig, 1, ids.length).window(0, 1),
  });
  return [...logits];
}

function softmax(logits: number[], temperature: number): number[] {
  const highest = Math.max(...logits);
  const exponentials = logits.map((logit) => Math.exp((logit - highest) / temperature));
  const total = exponentials.reduce((a, b) => a + b, 0);
  return exponentials.map((value) => value / total);
}

function greatest(values: number[]): number {
  return values.indexOf(Math.max(...values));
}

function draw(probabilities: number[], uniform: number): number {
  let reached = 0;
  return probabilities.findIndex((probability) => (reached += probability) > uniform);
}

async function sampled(requests: GenerateRequest[]): Promise<{ ids: number[]; logprobs: number[] }[]> {
  const scheduler = new Scheduler(session, tinyConfig, { slots: requests.length });
  const outcomes = requests.map((request) => {
    const outcome = { ids: [] as number[], logprobs: [] as number[] };
    scheduler.add(request, {
      onToken(id, logprob) {
        outcome.ids.push(id);
        outcome.logprobs.push(logprob);
      },
      onEnd: () => undefined,
      onError: (error) => expect(error).toBeUndefined(),
    });
    return outcome;
  });
  while (scheduler.busy) await scheduler.step();
  return outcomes;
}

const cases: [string, Partial<GenerateRequest>][] = [
  ["nothing", {}],
  ["a presence penalty", { presencePenalty: 1.5 }],
  ["a frequency penalty", { frequencyPenalty: 0.7 }],
  ["negative penalties", { presencePenalty: -1, frequencyPenalty: -0.5 }],
  ["a repetition penalty", { repetitionPenalty: 1.8 }],
  [
    "a bias",
    {
      logitBias: [
        [40, 6],
        [41, -100],
      ],
    },
  ],
  [
    "everything, greedy",
    { temperature: 0, presencePenalty: 1, frequencyPenalty: 1, repetitionPenalty: 1.3, logitBias: [[50, 3]] },
  ],
  ["everything, cold", { temperature: 0.1, presencePenalty: 2, frequencyPenalty: 2, repetitionPenalty: 1.5 }],
  ["everything, hot", { temperature: 1.9, presencePenalty: 2, frequencyPenalty: 1, repetitionPenalty: 1.2 }],
];

describe("penalties and bias", () => {
  it.each(cases)("are what a plain reference computes, one beside another: %s", async (_, overrides) => {
    const request = { ...base, ...overrides };
    const expected = await reference(request);
    const [own, model, plain] = await sampled([request, { ...request, modelLogprobs: true }, base]);
    expect(own?.ids).toEqual(expected.map(({ id }) => id));
    expect(model?.ids).toEqual(own?.ids);
    for (const [at, { drawn, model: raw }] of expected.entries()) {
      expect(own?.logprobs[at]).toBeCloseTo(drawn, 3);
      expect(model?.logprobs[at]).toBeCloseTo(raw, 3);
    }
    // What is decoded beside them is as it is alone.
    expect(plain?.ids).toEqual((await sampled([base]))[0]?.ids);
  });

  it("change what is said", async () => {
    const [plain, penalised, biased, banned] = await sampled([
      { ...base, temperature: 0 },
      { ...base, temperature: 0, presencePenalty: 2, frequencyPenalty: 2 },
      { ...base, logitBias: [[77, 100]] },
      {
        ...base,
        temperature: 0,
        maxNewTokens: 1,
        logitBias: [[(await sampled([{ ...base, temperature: 0 }]))[0]?.ids[0] ?? 0, -100]],
      },
    ]);
    expect(new Set(penalised?.ids).size).toBeGreaterThan(new Set(plain?.ids).size);
    expect(new Set(biased?.ids)).toEqual(new Set([77]));
    expect(banned?.ids[0]).not.toBe(plain?.ids[0]);
  });

  it("leave out stop tokens that come too early", async () => {
    const [free] = await sampled([{ ...base, temperature: 0 }]);
    const stopIds = [free?.ids[0] ?? 0, free?.ids[1] ?? 0];
    const [late, none] = await sampled([
      { ...base, temperature: 0, stopIds, minNewTokens: 5 },
      { ...base, temperature: 0, stopIds },
    ]);
    expect(none?.ids).toEqual([stopIds[0]]);
    expect(late?.ids.length).toBeGreaterThan(5);
    expect(late?.ids.slice(0, 5).filter((id) => stopIds.includes(id))).toEqual([]);
    expect(late?.logprobs.every(Number.isFinite)).toBe(true);
  });

  it("force a token however unlikely and cold", () => {
    const adjustment = new Adjustment({
      promptIds: [1],
      temperature: 0.001,
      stopIds: [],
      logitBias: [[2, 100]],
    });
    const row = adjustment.toProbabilities(Float32Array.of(40, 0, -50, 39));
    expect([...row]).toEqual([0, 0, 1, 0]);
  });

  it.each([{ presencePenalty: 0 }, { logitBias: [[90, 5]] as [number, number][] }])(
    "hold within a grammar whose tokens are unlikely and cold: %j",
    async (adjusted) => {
      const [low, high] = [60, 61];
      // The grammar leaves two, far behind the likeliest; of them one is half a nat ahead.
      const logits = Array.from({ length: tinyConfig.vocabularySize }, (_, id) =>
        id === 90 ? 50 : id === high ? 0.5 : 0,
      );
      const runner: InferRunner = {
        maxPositions: 256,
        run: async ({ invTemperature: [scale = 1] }) => ({
          probs: Float32Array.from(softmax(logits, 1 / scale)),
        }),
        runWithLogits: async (feeds) => ({ ...(await runner.run(feeds)), logits: Float32Array.from(logits) }),
      };
      const mask: TokenMask = {
        apply(row) {
          const [a = 0, b = 0] = [row[low], row[high]];
          return row.map((value, id) => (id === low || id === high ? value / (a + b) : 0));
        },
        take: () => undefined,
        complete: false,
      };
      const ids: number[] = [];
      const scheduler = new Scheduler(runner, tinyConfig, { slots: 1 });
      const listener = { onToken: (id: number) => ids.push(id), onEnd: () => {}, onError: () => {} };
      scheduler.add({ ...base, temperature: 0.2, maxNewTokens: 200, ...adjusted }, listener, mask);
      while (scheduler.busy) await scheduler.step();
      expect(ids).toHaveLength(200);
      // 1 / (1 + exp(2.5)) is 0.076; at temperature 1 it would be 0.38.
      const share = ids.filter((id) => id === low).length / ids.length;
      expect(share).toBeGreaterThan(0.03);
      expect(share).toBeLessThan(0.13);
    },
  );

  it("divide positive logits and multiply negative ones", () => {
    const params = { promptIds: [0, 1, 2], temperature: 1, stopIds: [], repetitionPenalty: 2 };
    const row = new Adjustment(params).toProbabilities(Float32Array.of(-0.5, 1, 0, 0));
    const expected = [-1, 0.5, 0, 0].map(Math.exp);
    const total = expected.reduce((a, b) => a + b, 0);
    for (const [id, value] of row.entries()) expect(value).toBeCloseTo((expected[id] ?? 0) / total, 6);
  });

  it("are not asked for by neutral values", () => {
    const neutral = {
      promptIds: [1],
      temperature: 1,
      logitBias: [],
      stopIds: [3],
      minNewTokens: 0,
      presencePenalty: 0,
      repetitionPenalty: 1,
    };
    expect(Adjustment.isWanted(neutral)).toBe(false);
    for (const one of [
      { presencePenalty: -1 },
      { frequencyPenalty: 0.1 },
      { repetitionPenalty: 0.9 },
      { minNewTokens: 1 },
    ])
      expect(Adjustment.isWanted({ ...neutral, ...one })).toBe(true);
  });
});
