import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dataset, Endpoint, type HardwareParams, recipes, TrainConfig } from "../../../sdk/index.ts";
import { startGpuStack, type GpuStack } from "./gpu-stack.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const dataset = Dataset.fromArray(
  ["rain", "snow", "fog"].map((keywords) => ({ keywords })),
  { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." },
);
const recipe = {
  evalInterval: null,
  rolloutNumGpus: 8,
  nSamplesPerPrompt: 8,
  applyChatTemplateKwargs: '{"enable_thinking": false}',
};

describe.skipIf(!hasPython)("GPU engines on AWS, by their stand-ins", () => {
  let stack: GpuStack;
  beforeAll(async () => {
    stack = await startGpuStack();
  });
  afterAll(() => stack.close());

  it("train by the tutorial's own recipe in a job of Batch, then twenty steps more", async () => {
    const config = {
      model: "Qwen/Qwen3.5-4B",
      dataset,
      rewards: stack.rewards,
      imageOverlay: [`echo changed > ${join(stack.folder, "changed")}`],
    };
    const first = await new TrainConfig({
      ...config,
      recipe: recipes.slime({ ...recipe, numRollout: 10, saveInterval: 5 }),
    }).launch();
    const result = await first.result();
    expect(result.checkpoints().map(({ step }) => step)).toEqual([5, 10]);
    expect(await readFile(join(stack.folder, "changed"), "utf8")).toBe("changed\n");
    await first.refresh();
    // The run's own reward, in its isolate, of answers of 10 and 11 letters.
    expect(first.record.metrics).toMatchObject({ "reward/mean": 10.5, loss: 0.25 });
    expect(stack.aws.containers.all.map(({ run }) => run.gpus)).toEqual([8]);

    const more = await new TrainConfig({
      ...config,
      startFrom: result.checkpoints().at(-1) ?? "",
      recipe: recipes.slime({ ...recipe, numRollout: 20 }),
    }).launch();
    const last = (await more.result()).checkpoints().at(-1);
    expect(last?.step).toBe(20);
    expect(last?.record.files.map(({ path }) => path)).toContain("trainer/iter_0000029/__0_0.distcp");
  });

  it("convert weights by jobs of Batch of their own, before the training and beside it", async () => {
    const before = stack.aws.containers.all.length;
    const launch = () =>
      new TrainConfig({
        model: "Qwen/Qwen3.5-4B",
        dataset,
        rewards: stack.rewards,
        recipe: recipes.slime({ ...recipe, numRollout: 1, convertToMegatron: true, convertToHf: true }),
      }).launch();
    for (const run of [await launch(), await launch()])
      expect(
        (await run.result()).checkpoints().map(({ record }) => record.files.map(({ path }) => path)),
      ).toEqual([expect.arrayContaining(["trainer/iter_0000000/.metadata", "model/config.json"])]);
    const jobs = stack.aws.containers.all.slice(before).map(({ run }) => run.environment["SPOTTER_JOB_ID"]);
    const kinds = jobs.map((id) => (id?.includes("-c-model-") === true ? "model" : id?.split("-")[0]));
    expect(kinds.sort()).toEqual(["convert", "convert", "model", "train", "train"]);
  });

  it("are refused at launch where the stack has nothing of the kind, and how it gets it is said", async () => {
    const on = (hardware: HardwareParams) =>
      new TrainConfig({
        model: "Qwen/Qwen3.5-4B",
        dataset,
        rewards: stack.rewards,
        hardware,
        recipe: recipes.slime({ ...recipe, numRollout: 2 }),
      }).launch();
    await expect(on({ gpu: "H100", count: 8, nodes: 3 })).rejects.toMatchObject({
      code: "invalid_input",
      where: "hardware.nodes",
      hint: expect.stringContaining("spotter:multiNode H100:8=3") as string,
    });
    await expect(on({ gpu: "H200", count: 8 })).rejects.toMatchObject({
      code: "invalid_input",
      where: "hardware.gpu",
    });
  });

  it("serve as a task of ECS, behind the gateway", async () => {
    const endpoint = await Endpoint.launch("Qwen/Qwen3.5-4B", { name: "four", engine: "vllm" });
    const reply = await endpoint.chat([{ role: "user", content: "Hi" }]);
    expect(reply.content).toBe("from vLLM");
  });
});
