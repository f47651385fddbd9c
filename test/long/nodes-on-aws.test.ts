import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { startGpuStack, type GpuStack } from "../e2e/aws/gpu-stack.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

const shards = (files: { path: string }[] = []) =>
  files.flatMap(({ path }) => (path.endsWith(".distcp") ? [path] : []));

describe.skipIf(!hasPython)("a training over two instances on a fake AWS", () => {
  let stack: GpuStack;
  beforeAll(async () => {
    stack = await startGpuStack();
  });
  afterAll(() => stack.close());

  const train = (numRollout: number, more: object = {}) =>
    new TrainConfig({
      model: "Qwen/Qwen3.5-4B",
      dataset: Dataset.fromArray([{ q: "rain" }, { q: "fog" }], { inputColumn: "q" }),
      rewards: stack.rewards,
      hardware: { gpu: "H100", count: 8, nodes: 2 },
      ...more,
      recipe: recipes.slime({ numRollout, saveInterval: 2, rolloutNumGpus: 16, nSamplesPerPrompt: 8 }),
    }).launch();

  it("is one job of Batch, and goes on with what both have saved", async () => {
    const first = (await (await train(2)).result()).checkpoints().at(-1);
    const nodes = stack.aws.containers.all.map(({ run }) => run);
    expect(nodes.map(({ gpus, environment }) => [gpus, environment["AWS_BATCH_JOB_NODE_INDEX"]])).toEqual([
      [8, "0"],
      [8, "1"],
    ]);
    expect(shards(first?.record.files)).toEqual([
      "trainer/iter_0000001/__0_0.distcp",
      "trainer/iter_0000001/__1_0.distcp",
    ]);
    const last = (await (await train(2, { startFrom: first })).result()).checkpoints().at(-1);
    expect(shards(last?.record.files)).toEqual([
      "trainer/iter_0000003/__0_0.distcp",
      "trainer/iter_0000003/__1_0.distcp",
    ]);
  });

  it("goes on from its last checkpoint, on both, when one of them is gone", async () => {
    const run = await train(6, { env: { STAND_IN: JSON.stringify({ secondsAStep: 0.4 }) } });
    let killed = false;
    for await (const { body } of run.events()) {
      if (body.type !== "checkpoint" || killed) continue;
      killed = true;
      const child = stack.aws.containers.all.find(
        ({ run: { environment }, exit }) =>
          environment["AWS_BATCH_JOB_NODE_INDEX"] === "1" && exit === undefined,
      );
      child?.end(137);
    }
    const last = (await run.result()).checkpoints().at(-1);
    await run.refresh();
    expect(killed).toBe(true);
    expect(run.record).toMatchObject({ state: "succeeded", step: 6, attempt: 2 });
    expect(shards(last?.record.files)).toEqual([
      "trainer/iter_0000005/__0_0.distcp",
      "trainer/iter_0000005/__1_0.distcp",
    ]);
    // Six steps on the base, none twice.
    const first = last?.record.files.find(({ path }) => path.endsWith("__0_0.distcp"));
    expect(first?.size).toBe("weights of the base".length + 6 * " + ".length + 3 * "rainfog".length);
  });
});
