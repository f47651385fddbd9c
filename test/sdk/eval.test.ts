import { describe, expect, it } from "vitest";
import { Dataset } from "../../sdk/dataset.ts";
import { Eval, type EvalParams } from "../../sdk/eval.ts";
import { EvalRun } from "../../sdk/eval-run.ts";
import { fakeServer } from "./fake-server.ts";
import { evalRecordOf, HASH } from "./records.ts";

const rewards = new URL("../fixtures/sdk/rewards.ts", import.meta.url);
const dataset = Dataset.fromArray([{ prompt: "a" }]);
const score = { mean: -2, low: -3, high: -1, n: 2 };

/** Says yes to every question whether a dataset or a module is there. */
const accepted = () => ({ v: 1, sha256: HASH, name: "x", rows: 1, exports: [], bytes: 1, createdAtMs: 1 });

describe("new Eval", () => {
  it("lists everything that is wrong", () => {
    const params = { endpoint: 1, dataset, rewards, samplesPerRow: 0, chatOption: {} };
    expect(() => new Eval(params as never)).toThrow(
      /endpoint: must be an Endpoint or its name[^]*samplesPerRow: must be more than 0, is 0[^]*chatOption: unknown key; did you mean "chatOptions"/,
    );
  });
});

describe("eval.launch", () => {
  it("uploads and queues", async () => {
    const fake = await fakeServer({ "POST /evals": () => evalRecordOf() });
    const params: EvalParams = {
      endpoint: { name: "nano" } as never,
      dataset,
      rewards,
      samplesPerRow: 8,
      chatOptions: { max_tokens: 4 },
    };
    fake.handlers["*"] = accepted;
    const run = await new Eval(params).launch({ client: fake.client });
    expect(run.id).toBe("eval1");
    const sent = JSON.parse(fake.requests.at(-1)?.body ?? "") as Record<string, unknown>;
    expect(sent).toMatchObject({
      endpoint: "nano",
      dataset: { rows: 1 },
      samplesPerRow: 8,
      chatOptions: { max_tokens: 4 },
    });
  });
});

describe("an eval of conversations", () => {
  it("says how they are played, and samples as often as pass@k needs", async () => {
    const fake = await fakeServer({ "POST /evals": () => evalRecordOf() });
    fake.handlers["*"] = accepted;
    const passAt = [{ k: 1, temperature: 0 }, 4, 8];
    const talk = { maxTurns: 5, terminationPolicy: "max_turns", maxToolTokens: 100 } as const;
    await new Eval({ endpoint: "nano", dataset, rewards, tools: rewards, passAt, ...talk }).launch({
      client: fake.client,
    });
    expect(JSON.parse(fake.requests.at(-1)?.body ?? "")).toMatchObject({
      samplesPerRow: 8,
      passAt: [{ k: 1, temperature: 0 }, { k: 4 }, { k: 8 }],
      rollout: { ...talk, includeThinking: true },
      tools: { code: { secrets: [] } },
    });
  });

  it("is refused with fewer answers than pass@k needs, and for Python that nobody allowed", async () => {
    const { client } = await fakeServer({});
    const launch = (more: Partial<EvalParams>) =>
      new Eval({ endpoint: "nano", dataset, rewards, ...more }).launch({ client });
    await expect(launch({ samplesPerRow: 4, passAt: [8] })).rejects.toThrow(/at least k answers to each row/);
    expect(() => new Eval({ endpoint: "nano", dataset, rewards: "rewards.py" })).toThrow(/nobody allowed it/);
  });

  it("compares with another one by its id", async () => {
    const compared = { first: 1, second: 2, difference: { mean: 1, low: 0, high: 2, n: 9 } };
    const result = {
      first: "eval1",
      second: "b",
      rows: 9,
      better: 5,
      worse: 3,
      same: 1,
      score: compared,
      scores: {},
      passes: {},
      notes: [],
    };
    const { client } = await fakeServer({ "GET /evals/eval1/compare/b": () => result });
    expect(await new EvalRun(client, evalRecordOf()).compare("b")).toEqual(result);
  });
});

describe("EvalRun", () => {
  it("waits for the result and tells how far it is", async () => {
    let asked = 0;
    const { client } = await fakeServer({
      "GET /evals/eval1": () =>
        ++asked < 3
          ? evalRecordOf({ done: 1 })
          : evalRecordOf({
              state: "succeeded",
              done: 2,
              missing: 1,
              score,
              scores: { haiku: score },
              passes: { 1: score },
            }),
    });
    const progress: number[] = [];
    const result = await new EvalRun(client, evalRecordOf()).result({
      onProgress: (done) => progress.push(done),
    });
    expect(result).toEqual({
      ...{ id: "eval1", ...score, scores: { haiku: score }, passes: { 1: score }, missing: 1, failed: 0 },
    });
    expect(progress).toEqual([1, 2]);
  });

  it("throws why it failed", async () => {
    const failure = { code: "reward_failed", message: "boom" };
    const { client } = await fakeServer({
      "GET /evals/eval1": () => evalRecordOf({ state: "failed", failure }),
    });
    await expect(new EvalRun(client, evalRecordOf()).result()).rejects.toMatchObject({
      code: "eval_failed",
      message: "The evaluation eval1 failed: boom [reward_failed]",
    });
  });

  it("gives all rows in order, and lists newest first as the server does", async () => {
    const row = (index: number, sample: number) => ({
      row: index,
      sample,
      input: {},
      text: "",
      finishReason: "stop",
      tokens: 1,
      verdict: { scores: {}, errors: {} },
    });
    const { client } = await fakeServer({
      "GET /evals/eval1/rows": ({ query }) =>
        query.after ? { items: [row(0, 0)] } : { items: [row(1, 0), row(0, 1)], next: "x" },
      "GET /evals": () => ({ items: [evalRecordOf({ id: "b" }), evalRecordOf({ id: "a" })] }),
    });
    const rows = await new EvalRun(client, evalRecordOf()).rows();
    expect(rows.map(({ row, sample }) => [row, sample])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
    expect((await Eval.list({ client })).map(({ id }) => id)).toEqual(["b", "a"]);
  });
});
