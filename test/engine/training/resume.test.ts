import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JobEventBody } from "../../../sdk/schema/job.ts";
import { answer, refusal, score } from "../fake-control-plane.ts";
import { promptRow } from "./fake-engine.ts";
import { trainFixture, type TrainFixture } from "./train-fixture.ts";

let fixture: TrainFixture;
const rows = ["one", "two", "three", "four", "five"].map((text) => promptRow(text));

beforeEach(async () => {
  fixture = await trainFixture();
  fixture.plane.judge = (judged) => judged.map((row) => score(row.response.content.length));
});
afterEach(() => fixture[Symbol.asyncDispose]());

function saved(step: number): Record<string, string> {
  const files = fixture.plane.checkpoints.get(step)?.files ?? new Map<string, Buffer>();
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]));
}

function onStep(step: number, act: () => void): void {
  const { judge } = fixture.plane;
  let judged = 0;
  fixture.plane.judge = (batch) => {
    if (++judged === step) act();
    return judge(batch);
  };
}

describe("resume", () => {
  it("equals the uninterrupted run bit for bit, and begins at the step after the last (25, 29)", async () => {
    await fixture.train({ trainer: { steps: 4, saveEvery: 2 } }, { rows });
    const whole = saved(4);
    const rolloutsOfWhole = fixture.plane.rollouts.get(4);
    const resume = fixture.checkpointOf(2);
    fixture.plane.checkpoints.clear();
    expect(await fixture.train({ trainer: { steps: 4, saveEvery: 2 } }, { rows, resume })).toBe(0);
    expect(fixture.metrics().map(({ step }) => step)).toEqual([3, 4]);
    expect(saved(4)).toEqual(whole);
    expect(fixture.plane.rollouts.get(4)).toEqual(rolloutsOfWhole);
  });
});

describe("starting from a checkpoint", () => {
  const startFrom = { checkpoint: "run-1@2" };

  it("continues as if the first run had been longer, with steps counted anew (24)", async () => {
    await fixture.train({ trainer: { steps: 4 } }, { rows });
    const whole = saved(4);
    await fixture.train({ trainer: { steps: 2 } }, { rows });
    const start = fixture.checkpointOf(2);
    await fixture.train({ trainer: { steps: 2 }, startFrom }, { rows, start });
    expect(fixture.metrics().map(({ step }) => step)).toEqual([1, 2]);
    expect(saved(2)["model/weight.json"]).toBe(whole["model/weight.json"]);
    expect(saved(2)["trainer/moment.json"]).toBe(whole["trainer/moment.json"]);
    expect(JSON.parse(saved(2)["trainer/state.json"] ?? "")).toMatchObject({ step: 2, totalSteps: 4 });
  });

  it("takes the weights alone in mode weights (25)", async () => {
    await fixture.train({ trainer: { steps: 2 } }, { rows });
    const start = fixture.checkpointOf(2);
    fixture.engines.length = 0;
    await fixture.train(
      { trainer: { steps: 1 }, startFrom: { ...startFrom, mode: "weights" } },
      { rows, start },
    );
    expect(JSON.parse(saved(1)["trainer/state.json"] ?? "")).toMatchObject({ step: 1, totalSteps: 1 });
    const downloads = fixture.plane.requests.filter(({ path }) => path.startsWith("/blobs/"));
    const trainerHashes = start.files
      .filter(({ path }) => path.startsWith("trainer/"))
      .map(({ sha256 }) => sha256);
    expect(downloads.some(({ path }) => trainerHashes.some((hash) => path.endsWith(hash)))).toBe(false);
  });

  it("refuses weights where a trainer's state is needed, and says which mode takes them (26)", async () => {
    await fixture.train({ trainer: { steps: 2 } }, { rows });
    const whole = fixture.checkpointOf(2);
    const start = { ...whole, files: whole.files.filter(({ path }) => path.startsWith("model/")) };
    const spec = { trainer: { steps: 1 }, startFrom: { ...startFrom, mode: "continue" as const } };
    expect(await fixture.train(spec, { rows, start })).toBe(1);
    expect(fixture.exit()?.failure).toMatchObject({
      code: "checkpoint_mismatch",
      hint: expect.stringContaining('mode "weights"') as string,
    });
  });

  it("refuses another base model, another kind and another rank", async () => {
    await fixture.train({ trainer: { steps: 2 } }, { rows });
    const start = fixture.checkpointOf(2);
    const lora = (rank: number) => ({ kind: "lora" as const, rank, alpha: 16, targets: ["q_proj" as const] });
    const adapter = fixture.plane.addFile(
      "model/adapter_config.json",
      JSON.stringify({ r: 8, lora_alpha: 16, target_modules: ["q_proj"] }),
    );
    const weight = fixture.plane.addFile("model/weight.json", "5");
    const loraStart = { ...start, kind: "lora" as const, files: [adapter, weight] };
    const attempts = [
      { spec: {}, start: { ...start, model: { name: "other" } }, says: "was trained from other" },
      { spec: { adapter: lora(8) }, start, says: "holds full weights" },
      { spec: { adapter: lora(4) }, start: loraStart, says: "has rank 8, not 4" },
    ];
    for (const { spec, start, says } of attempts) {
      const weights = { ...startFrom, mode: "weights" as const };
      expect(
        await fixture.train({ ...spec, trainer: { steps: 1 }, startFrom: weights }, { rows, start }),
      ).toBe(1);
      expect(fixture.exit()?.failure).toMatchObject({
        code: "checkpoint_mismatch",
        message: expect.stringContaining(says) as string,
      });
    }
    const weights = { ...startFrom, mode: "weights" as const };
    const fits = { adapter: lora(8), trainer: { steps: 1 }, startFrom: weights };
    expect(await fixture.train(fits, { rows, start: loraStart })).toBe(0);
    expect(fixture.plane.checkpoints.get(1)?.kind).toBe("lora");
  });
});

describe("ending early", () => {
  it("saves and reports cancelled when the control plane says so", async () => {
    onStep(3, () => {
      fixture.plane.cancel = true;
    });
    expect(await fixture.train({ trainer: { steps: 500 } }, { rows })).toBe(0);
    expect(fixture.exit()).toEqual({ type: "exit", outcome: "cancelled" });
    const step = fixture.metrics().at(-1)?.step ?? 0;
    expect(step).toBeGreaterThanOrEqual(2);
    expect(fixture.plane.checkpoints.get(step)?.complete).toBe(true);
    expect(fixture.engines[0]?.closed).toBe(true);
  });

  it("does the same on SIGTERM", async () => {
    onStep(2, () => fixture.host.emit("SIGTERM"));
    expect(await fixture.train({ trainer: { steps: 500 } }, { rows })).toBe(0);
    expect(fixture.exit()?.outcome).toBe("cancelled");
    expect([...fixture.plane.checkpoints.keys()]).toEqual([fixture.metrics().at(-1)?.step]);
    expect(fixture.host.eventNames()).toEqual([]);
  });

  it("saves and fails with timeout at the time limit", async () => {
    expect(await fixture.train({ trainer: { steps: 100_000 }, limits: { durationMs: 150 } }, { rows })).toBe(
      1,
    );
    expect(fixture.exit()?.failure?.code).toBe("timeout");
    expect([...fixture.plane.checkpoints.keys()]).toEqual([fixture.metrics().at(-1)?.step]);
  });

  it("keeps what was learnt before the rewards broke", async () => {
    const judge = fixture.plane.judge;
    let calls = 0;
    fixture.plane.judge = (batch) =>
      ++calls < 3 ? judge(batch) : batch.map(() => ({ scores: {}, errors: {} }));
    expect(await fixture.train({ trainer: { steps: 9 } }, { rows })).toBe(1);
    expect(fixture.exit()?.failure?.code).toBe("reward_failed");
    expect([...fixture.plane.checkpoints.keys()]).toEqual([2]);
  });

  it("exits without a word when the attempt is stale", async () => {
    onStep(2, () => {
      fixture.plane.intercept = (_request, response) => (
        answer(response, 410, refusal("attempt_stale")),
        true
      );
    });
    expect(await fixture.train({ trainer: { steps: 500 } }, { rows })).toBe(3);
    expect(fixture.plane.events.some((event: JobEventBody) => event.type === "exit")).toBe(false);
  });

  it("reports an uncaught error", async () => {
    onStep(2, () => fixture.host.emit("uncaughtException", new Error("out of the blue")));
    expect(await fixture.train({ trainer: { steps: 500 } }, { rows })).toBe(1);
    expect(fixture.exit()?.failure).toMatchObject({ code: "internal", message: "out of the blue" });
  });
});
