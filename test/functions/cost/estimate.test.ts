import { describe, expect, it, onTestFinished } from "vitest";
import type { Estimate, Price } from "../../../sdk/schema/cost.ts";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import { runSpec, type RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { estimateCost } from "../../../functions/cost/estimate.ts";
import { cloudPricing } from "../../../functions/cost/pricing.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const SHA = "0".repeat(64);
const PRICE: Price = { instance: "g5.xlarge", hourlyUsd: 3.6, gpus: 1, spot: false };

function spec(changes: Partial<RunSpecInput> = {}) {
  return runSpec.parse({
    kind: "rl",
    model: { name: "Qwen/Qwen3-0.6B" },
    dataset: { sha256: SHA, rows: 3 },
    rewards: { code: { sha256: SHA } },
    algorithm: { kind: "grpo" },
    rollout: { promptsPerStep: 10, samplesPerPrompt: 10, maxTokens: 100 },
    trainer: { steps: 10 },
    ...changes,
  });
}

describe("estimateCost", () => {
  it("goes by what was measured, with a narrow range", () => {
    const measured = { runId: "run-1", tokensPerS: 100 };
    expect(estimateCost(spec(), { price: PRICE, measured })).toEqual({
      seconds: 1_000,
      usd: 1,
      low: { seconds: 700, usd: 0.7 },
      high: { seconds: 1_500, usd: 1.5 },
      ...PRICE,
      basis: {
        ...{ kind: "measured", runId: "run-1", tokensPerS: 100, tokensPerStep: 10_000 },
        text: "As fast as run-1, which had the same model on the same hardware.",
      },
      notes: [],
    });
  });

  it("says that it is a rule of thumb where nothing was, and knows the size from the name", () => {
    const estimate = estimateCost(spec(), { price: PRICE });
    expect(estimate.basis).toMatchObject({ kind: "default", tokensPerS: 13.33 });
    expect(estimate.basis.text).toContain("rule of thumb");
    expect(estimate.seconds).toBe(180 + 7_500);
    expect(estimate.high.seconds / estimate.low.seconds).toBeCloseTo(25, 0);
  });

  it.each([
    ["HuggingFaceTB/SmolLM2-135M-Instruct", 59.26],
    ["spotter/nano", 8_421],
    ["./my-model", 8],
    ["org/model-v3b2", 8],
  ])("takes %s to do %d tokens a second", (name, tokensPerS) => {
    const { basis } = estimateCost(spec({ model: { name } }), { price: PRICE });
    expect(basis.tokensPerS).toBe(tokensPerS);
  });

  it("is wider still where the size is not known", () => {
    const { low, high } = estimateCost(spec({ model: { name: "./mine" } }), { price: PRICE });
    expect(high.seconds / low.seconds).toBeCloseTo(400, 0);
  });

  it("counts the batch of a supervised run", () => {
    const sft = spec({ kind: "sft", algorithm: { kind: "sft", batchSize: 4 } });
    expect(estimateCost(sft, { price: PRICE }).basis.tokensPerStep).toBe(400);
  });

  it("warns of nothing by what processors would take, where GPUs train", () => {
    const limits = { maxCostUsd: 0.01, durationMs: 60_000 };
    const { basis, notes } = estimateCost(spec({ engine: "slime", limits }), { price: PRICE });
    expect(basis.text).toMatch(/^That is what processors would take: no run of slime on g5.xlarge/);
    expect(notes).toEqual([]);
    const measured = { runId: "run-1", tokensPerS: 100 };
    expect(estimateCost(spec({ engine: "slime", limits }), { price: PRICE, measured }).notes).toHaveLength(2);
  });

  it("warns of limits that will not be enough, and of what spot means", () => {
    const limits = { maxCostUsd: 0.5, durationMs: 600_000 };
    const measured = { runId: "run-1", tokensPerS: 100 };
    const { notes } = estimateCost(spec({ limits }), { price: { ...PRICE, spot: true }, measured });
    expect(notes).toEqual([
      expect.stringContaining("limits.maxCostUsd is $0.50"),
      expect.stringContaining("limits.durationMs is 600 s"),
      expect.stringContaining("Spot prices move"),
    ]);
    expect(estimateCost(spec({ limits: { maxCostUsd: 0.7 } }), { price: PRICE, measured }).notes).toEqual([]);
  });
});

describe("POST /runs/estimate", () => {
  it("goes by an earlier run of the same model on the same instance, and launches nothing", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.pricing = cloudPricing();
    const given = await preparedSpec(plane);
    const ask = (changes = {}) => plane.json<Estimate>("POST", "/runs/estimate", { ...given, ...changes });
    expect(await ask()).toMatchObject({ instance: "fargate", basis: { kind: "default" } });
    const { id, job } = await runningRun(plane);
    for (let step = 1; step <= 4; step++) {
      plane.clock.advance(5_000);
      await job.heartbeat();
      await job.report({ type: "run", event: { type: "metrics", step, metrics: {} } });
    }
    await job.exit("succeeded");
    const measured = await ask();
    expect(measured).toMatchObject({ seconds: 20, basis: { kind: "measured", runId: id } });
    expect(await ask({ trainer: { steps: 40 } })).toMatchObject({ seconds: 200 });
    expect(await ask({ adapter: { kind: "lora" } })).toMatchObject({ basis: { kind: "default" } });
    const onGpu = await ask({ hardware: { gpu: "H100" } });
    expect(onGpu).toMatchObject({ instance: "p5.4xlarge", basis: { kind: "default" } });
    expect(onGpu.notes).toEqual([expect.stringContaining("1 × H100 would stand idle")]);
    expect((await plane.json<{ items: unknown[] }>("GET", "/runs")).items).toHaveLength(1);
  });

  it("is in the log of a run that costs something, before it starts (77)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.pricing = cloudPricing();
    const { id } = await runningRun(plane);
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${id}/events`);
    expect(JSON.stringify(events[1]?.body)).toMatch(/"level":"info","message":"Estimated: /);
  });

  it("is nothing on one machine, and says which hardware it ignores", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const given = { ...(await preparedSpec(plane)), hardware: { gpu: "T4" } };
    expect(await plane.json<Estimate>("POST", "/runs/estimate", given)).toMatchObject({
      ...{ instance: "this machine", usd: 0, hourlyUsd: 0 },
      notes: ["Hardware (1 × T4) is ignored: this machine runs on what it has."],
    });
  });
});
