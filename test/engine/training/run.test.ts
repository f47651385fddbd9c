import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RewardRow, Verdict } from "../../../sdk/schema/rollout.ts";
import { noVerdict, score } from "../fake-control-plane.ts";
import { EOS } from "./character-model.ts";
import { promptRow } from "./fake-engine.ts";
import { trainFixture, type TrainFixture } from "./train-fixture.ts";

let fixture: TrainFixture;
const rows = ["one", "two", "three", "four", "five"].map((text) => promptRow(text));

beforeEach(async () => {
  fixture = await trainFixture();
  fixture.plane.judge = byLength;
});
afterEach(() => fixture[Symbol.asyncDispose]());

function byLength(judged: RewardRow[]): Verdict[] {
  return judged.map((row) => score(row.response.content.length));
}

describe("rl run", () => {
  it("samples, judges, learns, reports and saves, also without saveEvery (31)", async () => {
    expect(await fixture.train({}, { rows })).toBe(0);
    expect(fixture.exit()).toEqual({ type: "exit", outcome: "succeeded" });
    expect(fixture.metrics().map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    const metrics = fixture.metrics()[0]?.metrics ?? {};
    expect(Object.keys(metrics).sort()).toEqual(
      [
        "clip_fraction completion_tokens entropy generate_seconds grad_norm groups_used kl logprob_drift loss lr",
        "missing_verdicts reward/mean reward/quality reward/std score_seconds step_seconds tokens_per_s train_seconds",
      ].flatMap((line) => line.split(" ")),
    );
    expect(metrics).toMatchObject({ loss: 1, lr: 0.01, missing_verdicts: 0, generate_seconds: 0.5 });
    expect(metrics.logprob_drift).toBeCloseTo(0.001, 9);
    expect(fixture.phases()).toEqual(
      expect.arrayContaining(["download-model", "prepare-dataset", "save-checkpoint"]),
    );
    const saved = fixture.plane.checkpoints.get(4);
    expect(saved?.complete).toBe(true);
    expect([...(saved?.files.keys() ?? [])].sort()).toEqual([
      "model/weight.json",
      "trainer/moment.json",
      "trainer/state.json",
    ]);
    expect(fixture.engines[0]).toMatchObject({ closed: true, setup: { slots: 8, threads: 1 } });
  });

  it("records rollouts as sampled and learns the very same tokens", async () => {
    await fixture.train({}, { rows });
    const engine = fixture.engines[0];
    const rollouts = fixture.plane.rollouts.get(1) ?? [];
    expect(rollouts.map(({ index, group }) => `${index}/${group}`)).toEqual(
      Array.from({ length: 8 }, (_, index) => `${index}/${Math.floor(index / 4)}`),
    );
    for (const rollout of rollouts) {
      const learnt = rollout.tokenIds.filter((_, at) => rollout.mask[at] === 1);
      expect(learnt.at(-1)).toBe(EOS);
      expect(rollout.logprobs.filter((_, at) => rollout.mask[at] === 1)).toEqual(
        learnt.map((id) => -id / 100),
      );
      expect(rollout.messages.at(-1)).toEqual({ role: "assistant", content: rollout.text });
    }
    const sent = engine?.batches[0]?.sequences ?? [];
    const used = rollouts.filter(({ advantage }) => advantage !== undefined);
    expect(sent.map(({ ids }) => ids)).toEqual(used.map(({ tokenIds }) => tokenIds));
    expect(sent.map(({ mask }) => mask)).toEqual(used.map(({ mask }) => mask));
    expect(new Set(engine?.requests.slice(0, 8).map(({ seed }) => seed)).size).toBe(8);
  });

  it("leaves samples without a verdict out of their group, and counts them", async () => {
    fixture.plane.judge = (judged) =>
      byLength(judged).map((verdict, index) => (index === 0 ? noVerdict() : verdict));
    expect(await fixture.train({ trainer: { steps: 1 } }, { rows })).toBe(0);
    expect(fixture.metrics()[0]?.metrics.missing_verdicts).toBe(1);
    const rollouts = fixture.plane.rollouts.get(1) ?? [];
    expect(rollouts[0]?.advantage).toBeUndefined();
    expect(fixture.engines[0]?.batches[0]?.sequences.map(({ ids }) => ids)).not.toContainEqual(
      rollouts[0]?.tokenIds,
    );
  });

  it("takes no step where nothing can be learnt", async () => {
    fixture.plane.judge = (judged) => judged.map(() => score(1));
    expect(await fixture.train({}, { rows })).toBe(0);
    expect(fixture.engines[0]?.batches).toEqual([]);
    expect(fixture.metrics().map(({ metrics }) => metrics.groups_used)).toEqual([0, 0, 0, 0]);
    expect(fixture.plane.checkpoints.get(4)?.complete).toBe(true);
  });

  it("says once that nothing was learnt for five steps in a row", async () => {
    let judged = 0;
    // The second step has something to learn, so the count begins anew.
    fixture.plane.judge = (batch) => {
      judged++;
      return batch.map((_, index) => score(judged === 2 ? index : 1));
    };
    const warnings = () =>
      fixture.plane.events.flatMap((event) =>
        event.type === "log" && event.level === "warn" ? [event.message] : [],
      );
    expect(await fixture.train({ trainer: { steps: 6 } }, { rows })).toBe(0);
    expect(warnings()).toEqual([]);
    judged = 2;
    expect(await fixture.train({ trainer: { steps: 12 } }, { rows })).toBe(0);
    expect(warnings()).toEqual([
      expect.stringContaining("All answers of each prompt score the same for 5 steps"),
    ]);
  });

  it("fails with the first cause when no reward gives a verdict", async () => {
    fixture.plane.judge = (judged) => judged.map(() => noVerdict("reward_failed", "x is not defined"));
    expect(await fixture.train({}, { rows })).toBe(1);
    expect(fixture.exit()).toMatchObject({
      outcome: "failed",
      failure: { code: "reward_failed", message: expect.stringContaining("x is not defined") as string },
    });
    expect(fixture.exit()?.failure?.logTail?.join("\n")).toContain("reward_failed");
    expect(fixture.plane.checkpoints.size).toBe(0);
  });

  it("measures kl against the reference", async () => {
    await fixture.train({ algorithm: { kind: "grpo", klCoef: 0.1 }, trainer: { steps: 1 } }, { rows });
    const [engine] = fixture.engines;
    expect(engine?.setup.trainer?.reference).toBe(true);
    const sequence = engine?.batches[0]?.sequences[0];
    expect(sequence?.refLogprobs).toEqual(sequence?.ids.map((id, at) => (at === 0 ? 0 : -id / 50)));
  });

  it("takes twice the rank for the alpha of an adapter where none is given", async () => {
    const targets: "q_proj"[] = ["q_proj"];
    await fixture.train({ adapter: { kind: "lora", rank: 8, targets }, trainer: { steps: 1 } }, { rows });
    await fixture.train(
      { adapter: { kind: "lora", rank: 8, alpha: 4, targets }, trainer: { steps: 1 } },
      { rows },
    );
    expect(fixture.engines.map(({ setup }) => setup.trainer?.lora)).toEqual([
      { rank: 8, alpha: 16, targets },
      { rank: 8, alpha: 4, targets },
    ]);
  });

  it("evaluates held-out rows apart from the training reward", async () => {
    await fixture.train({ evalEvery: 2 }, { rows, evalRows: [promptRow("held"), promptRow("out")] });
    const evaluated = fixture.metrics().filter(({ metrics }) => "eval/reward/mean" in metrics);
    expect(evaluated.map(({ step }) => step)).toEqual([2, 4]);
    expect(Object.keys(evaluated[0]?.metrics ?? {}).every((name) => name.startsWith("eval/"))).toBe(true);
  });

  it("names every row that does not fit before it begins, of both datasets", async () => {
    const long = promptRow("x".repeat(64));
    expect(await fixture.train({}, { rows: [...rows, long], evalRows: [promptRow("fits"), long] })).toBe(1);
    expect(fixture.exit()?.failure).toMatchObject({
      code: "context_length_exceeded",
      message: "2 of 8 rows do not fit the model's 64 tokens: dataset row 6, evalDataset row 2.",
    });
    expect(fixture.engines).toEqual([]);
    const all = Array.from({ length: 12 }, () => promptRow("x".repeat(100_000)));
    expect(await fixture.train({ trainer: { steps: 6 } }, { rows: all })).toBe(1);
    expect(fixture.exit()?.failure?.message).toContain("dataset row 10 and 2 more.");
  });

  it("sets memory aside for no more than it can meet", async () => {
    await fixture.train({}, { rows });
    expect(fixture.engines[0]?.setup.maxPositions).toBe("three|^".length + 8);
  });
});

describe("sft run", () => {
  it("learns completions and reports the held-out loss", async () => {
    const spec = {
      kind: "sft" as const,
      rewards: undefined,
      algorithm: { kind: "sft" as const, batchSize: 2 },
      trainer: { steps: 2 },
      evalEvery: 2,
    };
    const evalRows = [promptRow("q", "A")];
    expect(await fixture.train(spec, { rows: [promptRow("a", "xy"), promptRow("b", "z")], evalRows })).toBe(
      0,
    );
    const batch = fixture.engines[0]?.batches[0];
    expect(batch?.loss).toBe("sft");
    expect(batch?.sequences.map(({ mask }) => mask.filter((each) => each === 1).length).sort()).toEqual([
      2, 3,
    ]);
    const [evaluated] = fixture.metrics().filter(({ metrics }) => "eval/loss" in metrics);
    expect(evaluated?.metrics["eval/loss"]).toBeCloseTo(("A".charCodeAt(0) + EOS) / 50 / 2, 9);
    expect(fixture.plane.rollouts.size).toBe(0);
  });
});

describe("bad input", () => {
  it.each([
    { what: "a hub name", spec: { model: { name: "Qwen/Qwen3-0.6B" } }, code: "model_not_found" },
    { what: "an empty folder", spec: { model: { name: "/nonexistent" } }, code: "model_not_found" },
  ])("$what is $code", async ({ spec, code }) => {
    expect(await fixture.train(spec, { rows })).toBe(1);
    expect(fixture.exit()?.failure).toMatchObject({ code });
  });

  it("an empty dataset is dataset_empty", async () => {
    await fixture.train({}, { rows: [] });
    expect(fixture.exit()?.failure?.code).toBe("dataset_empty");
  });
});
