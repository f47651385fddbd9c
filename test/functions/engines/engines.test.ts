import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RunEventPage } from "../../../sdk/schema/event.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import type { ServeJob } from "../../../sdk/schema/job.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { runningRun } from "../../fakes/job.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

const tokenOf = (plane: TestPlane, job: string) => plane.containers.environmentOf(job).SPOTTER_JOB_TOKEN;

interface Refusal {
  error: { code: string; message: string };
}

/** All weights are learnt, slowly. */
const TRAINER = { steps: 4, learningRate: 1e-6 };
const GROUP = { promptsPerStep: 2, samplesPerPrompt: 2 };

describe("the engine of an endpoint", () => {
  it("is refused where it is the embedded one and has settings of another", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const response = await plane.call("POST", "/endpoints", {
      model: { name: "spotter/nano" },
      vllm: { maxModelLen: 1 },
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: object };
    expect(error).toMatchObject({ code: "invalid_input", where: "vllm" });
  });
});

describe("the engine of an adapter", () => {
  it("has room for its rank, or is refused at launch", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.engines = () => ["vllm"];
    const launch = async (rank: number, vllm = {}) => {
      const { job, state } = await runningRun(plane, { adapter: { kind: "lora", rank } });
      const { id, model } = await job.save(1, "lora");
      await job.exit("succeeded");
      expect((await state()).state).toBe("succeeded");
      const name = `rank-${rank}`;
      return plane.call("POST", "/endpoints", { name, model, checkpoint: id, engine: "vllm", vllm });
    };
    const refused = async (response: Response) => ((await response.json()) as Refusal).error;
    expect(await refused(await launch(128, { maxLoraRank: 64 }))).toMatchObject({
      code: "invalid_input",
      where: "vllm.maxLoraRank",
    });
    expect(await refused(await launch(600))).toMatchObject({ code: "invalid_input", where: "checkpoint" });
    expect((await launch(200)).ok).toBe(true);
    await plane.reconciler.settle();
    const [job = ""] = plane.containers.launched.map(({ jobId }) => jobId).filter((id) => /rank/.test(id));
    const spec = await plane.json<ServeJob>("GET", `/jobs/${job}`, undefined, tokenOf(plane, job));
    expect(spec.native?.argv.join(" ")).toContain("--max-lora-rank 256");
  });
});

describe("the engine of a run", () => {
  it("is the embedded one, which says that it has no image to change (C18)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const spec = { ...(await preparedSpec(plane)), imageOverlay: ["apt-get install jq"] };
    const { run } = await plane.json<RunDetail>("POST", "/runs", spec);
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${run.id}/events`);
    const told = events.flatMap(({ body }) => (body.type === "log" ? [body.message] : []));
    expect(told).toContain("imageOverlay is not applied: the embedded engine runs without an image.");
  });

  it("is started with its model's folder, and what the run wants changed in its image (C18)", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.engines = () => ["slime"];
    const imageOverlay = ["apt-get install jq", "pip install nltk"];
    // Any folder will do, with a word on its architecture.
    const model = { name: fileURLToPath(new URL("../../../engine/models/nano", import.meta.url)) };
    const slime = { flags: { "num-layers": 2 } };
    const spec = {
      ...(await preparedSpec(plane)),
      engine: "slime",
      model,
      slime,
      rollout: GROUP,
      trainer: TRAINER,
      imageOverlay,
    };
    await plane.json<RunDetail>("POST", "/runs", spec);
    await plane.reconciler.settle();
    expect(plane.containers.launched[0]).toMatchObject({
      engine: "slime",
      imageOverlay,
      folders: [model.name],
    });
  });

  it("is refused where this home has none, and with all that it would not take", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const base = await preparedSpec(plane);
    const refused = async (changes: Partial<RunSpecInput>): Promise<Refusal["error"]> => {
      const response = await plane.call("POST", "/runs", {
        ...base,
        rollout: GROUP,
        trainer: TRAINER,
        ...changes,
      });
      expect(response.status).toBe(400);
      return ((await response.json()) as Refusal).error;
    };
    const model = { name: "Qwen/Qwen3-4B" };
    expect(await refused({ engine: "slime", model })).toMatchObject({ code: "engine_missing" });
    plane.control.config.engineHint = (engine) => `Name the image of ${engine}.`;
    expect(await refused({ engine: "slime", model })).toMatchObject({
      hint: expect.stringMatching(/^Name the image of slime\. .*Qwen/) as string,
    });
    expect(await refused({ slime: { colocate: true } })).toMatchObject({ code: "invalid_input" });
    plane.control.config.engines = () => ["slime"];
    const { code, message } = await refused({
      engine: "slime",
      model,
      adapter: { kind: "lora" },
      slime: { flags: { "no-such-thing-at-all": 1 }, globalBatchSize: 3 },
    });
    expect(code).toBe("invalid_input");
    expect(message.split("\n")).toHaveLength(4);
    plane.control.config.cannotGive = (env) => Object.keys(env).filter((name) => name !== "FINE");
    const env = { FINE: "", PEM: "two\nlines" };
    expect(await refused({ engine: "slime", model, env })).toMatchObject({
      code: "invalid_input",
      where: "env.PEM",
    });
    const lost = JSON.parse('{"customConfig":{"a":[{"__proto__":{"b":1}}]}}') as object;
    expect(await refused({ engine: "slime", model, slime: { ...lost } })).toMatchObject({
      code: "invalid_input",
      where: "customConfig",
      message: expect.stringContaining("__proto__") as string,
    });
    expect(await refused({ engine: "slime", model, slime: { numRollouts: 1 } })).toMatchObject({
      code: "unknown_key",
    });
  });

  it("starts from no checkpoint that it could not go on from, told at launch", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const model = { name: "/models/made-up" };
    plane.control.config.engines = () => ["slime"];
    const { id, job } = await runningRun(plane, { model });
    await job.save(1, "lora");
    await job.save(2, "full");
    const slime = { flags: { "num-layers": 2 } };
    const spec = { ...(await preparedSpec(plane)), model, trainer: TRAINER, engine: "slime" as const, slime };
    const launch = async (startFrom: RunSpecInput["startFrom"]) => {
      const response = await plane.call("POST", "/runs", { ...spec, startFrom });
      return response.ok ? "launched" : ((await response.json()) as Refusal).error;
    };
    for (const mode of ["continue", "weights"] as const)
      expect(await launch({ checkpoint: `${id}@1`, mode })).toMatchObject({
        code: "checkpoint_mismatch",
        where: "startFrom.checkpoint",
      });
    const stateless = await launch({ checkpoint: `${id}@2`, mode: "continue" });
    expect(stateless).toMatchObject({
      code: "checkpoint_mismatch",
      message: expect.stringContaining("no optimizer state of slime") as string,
    });
    expect(await launch({ checkpoint: `${id}@2`, mode: "weights" })).toBe("launched");
  });

  it("learns no large model at the rate that recipes have for adapters, unless that is meant", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    plane.control.config.engines = () => ["slime"];
    const base = { ...(await preparedSpec(plane)), engine: "slime", rollout: GROUP, trainer: { steps: 4 } };
    const launch = (name: string, slime: object) =>
      plane.call("POST", "/runs", { ...base, model: { name, revision: "f".repeat(64) }, slime });
    const refused = await launch("Qwen/Qwen3-4B", {});
    expect(((await refused.json()) as Refusal).error).toMatchObject({
      code: "invalid_input",
      where: "trainer.learningRate",
    });
    expect((await launch("Qwen/Qwen3-4B", { lr: 2e-4 })).status).toBe(201);
    const { run } = (await (await launch("Qwen/Qwen3-0.6B", {})).json()) as RunDetail;
    const { events } = await plane.json<RunEventPage>("GET", `/runs/${run.id}/events`);
    expect(JSON.stringify(events)).toContain("is high for all weights");
  });
});
