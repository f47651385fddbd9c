import { EXIT } from "../../../engine/agent/container.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Checkpoint, Client, Endpoint, JsonlDataset, recipes, TrainConfig } from "../../../sdk/index.ts";
import { startStack, type AwsStack } from "./stack.ts";

const haiku = new URL("../../../examples/haiku/", import.meta.url);
const train = new JsonlDataset(new URL("train.jsonl", haiku), {
  inputColumn: "keywords",
  promptTemplate: "Write a haiku about {input}.",
});
const recipe = recipes.grpo({
  steps: 3,
  promptsPerStep: 2,
  samplesPerPrompt: 4,
  maxTokens: 24,
  saveEvery: 1,
});
const messages = [{ role: "user" as const, content: "Write a haiku about rain." }];
const scaling = { min: 0, max: 2, targetConcurrency: 2, idleTimeoutMs: 2_000, scaleDownWindowMs: 1_000 };
const chatOptions = { max_tokens: 12, seed: 3, temperature: 1 };

const isJob = ({ environment }: { environment: Record<string, string> }, name: string) =>
  environment["SPOTTER_JOB_ID"]?.startsWith(name) === true;

describe("the loop on AWS", () => {
  let stack: AwsStack;
  let checkpoint: Checkpoint;
  beforeAll(async () => {
    stack = await startStack();
    Client.setDefault(new Client({ url: stack.url, key: stack.key }));
  });
  afterAll(async () => {
    Client.setDefault(undefined);
    await stack.close();
  });
  const running = (name: string) =>
    stack.aws.containers.all.filter(({ run, exit }) => exit === undefined && isJob(run, name));

  const wasUp = ({ run }: { run: { environment: Record<string, string> } }) =>
    stack.lines.some(
      (line) => line.includes(`"${run.environment["SPOTTER_JOB_ID"]}"`) && line.includes("serving poet"),
    );

  it("holds a chat at zero replicas until a task of ECS has started", async () => {
    const endpoint = await Endpoint.launch("spotter/nano", { name: "poet", scaling });
    const reply = await endpoint.chat(messages, chatOptions);
    expect(reply.usage.completion_tokens).toBeGreaterThan(0);
    expect(running("serve-")).toHaveLength(1);
  });

  it("trains in a job of Batch, and goes on after its instance was taken away", async () => {
    const config = new TrainConfig({
      model: "spotter/nano",
      dataset: train,
      recipe,
      rewards: new URL("rewards.ts", haiku),
      hardware: { gpu: "L4", spot: true },
    });
    const run = await config.launch();
    let taken = false;
    for await (const event of run.events()) {
      if (event.body.type !== "checkpoint" || taken) continue;
      taken = true;
      const [job] = running("train-");
      if (job === undefined) throw new Error("no job runs");
      stack.aws.control.interruptSpot(job.run.arn);
    }
    const result = await run.result();
    expect(taken).toBe(true);
    await run.refresh();
    expect(run.record).toMatchObject({ state: "succeeded", step: 3, attempt: 2 });
    const last = result.checkpoints().at(-1);
    if (last === undefined) throw new Error("no checkpoint");
    checkpoint = last;
  });

  it("serves the checkpoint once it is launched, and says so before", async () => {
    const refused = await fetch(`${stack.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: checkpoint.id, messages }),
    });
    expect(refused.status).toBe(404);
    expect(await refused.text()).toContain("launch");
    const trained = await Endpoint.launch("spotter/nano", { checkpoint });
    const reply = await trained.chat(messages, chatOptions);
    expect(reply.usage.completion_tokens).toBeGreaterThan(0);
  });

  it("answers for a step of a LoRA run through the endpoint of its model", async () => {
    const config = new TrainConfig({
      model: "spotter/nano",
      dataset: train,
      recipe: recipes.grpo({ steps: 1, promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 8 }),
      rewards: new URL("rewards.ts", haiku),
      adapter: "lora",
    });
    const run = await config.launch();
    await run.result();
    const before = stack.aws.containers.all.length;
    const response = await fetch(`${stack.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: `${run.id}@1`, messages, ...chatOptions }),
    });
    expect(await response.json()).toMatchObject({
      model: `${run.id}@1`,
      usage: { completion_tokens: expect.any(Number) as number },
    });
    // Poet slept, or was up still.
    const started = stack.aws.containers.all.slice(before);
    expect(started.filter(({ run: { environment } }) => !isJob({ environment }, "serve-poet"))).toEqual([]);
  });

  it("goes from zero to several replicas and back, and loses nothing", async () => {
    const endpoint = await Endpoint.get("poet");
    await vi.waitFor(() => expect(running("serve-poet")).toHaveLength(0), { timeout: 30_000, interval: 200 });
    const long = { max_tokens: 200, temperature: 1 };
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, seed) => endpoint.chat(messages, { ...long, seed })),
    );
    expect(replies.filter(({ usage }) => usage.completion_tokens > 0)).toHaveLength(12);
    const served = stack.aws.containers.all.filter(({ run }) => isJob(run, "serve-poet"));
    expect(served.length).toBeGreaterThanOrEqual(3);
    await vi.waitFor(() => expect(running("serve-poet")).toHaveLength(0), { timeout: 30_000, interval: 200 });
    // Drained and asked to end: nothing was killed in the middle of an answer. Before it is up, a process just ends.
    expect(served.filter(wasUp).length).toBeGreaterThan(1);
    for (const { signals } of served) expect(signals).toEqual(["SIGTERM"]);
    for (const { exit, run } of served.filter(wasUp)) expect(exit?.code, run.arn).toBe(EXIT.stale);
  });
});
