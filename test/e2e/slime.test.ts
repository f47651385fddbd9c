import { spawnSync } from "node:child_process";
import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Checkpoint, Dataset, Endpoint, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { SLIME_OPTIONS } from "../../sdk/schema/engines/slime-plan.ts";
import { ownHome } from "./home.ts";

const LONG = { timeout: 20_000, interval: 200 };
const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) process.stderr.write("skipped: there is no python3 on this machine\n");

/** A folder like slime's own, with a train.py that takes slime's options and no others. */
async function standIn(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "spotter-slime-dir-"));
  await copyFile(new URL("../fixtures/engines/slime.py", import.meta.url), join(dir, "train.py"));
  await cp(new URL("../fixtures/engines/tools", import.meta.url), join(dir, "tools"), { recursive: true });
  await cp(new URL("../fixtures/engines/stubs/slime", import.meta.url), join(dir, "slime"), {
    recursive: true,
  });
  await copyFile(
    new URL("../fixtures/engines/stubs/event_writer.py", import.meta.url),
    join(dir, "event_writer.py"),
  );
  await writeFile(join(dir, "options.json"), JSON.stringify(Object.keys(SLIME_OPTIONS.options)));
  await writeFile(
    join(dir, "rewards.ts"),
    'import { reward } from "spotter";\nexport const length = reward(async (args) => args.response.content.length);\n',
  );
  return dir;
}

describe.skipIf(!hasPython)("the tutorial's own recipe, on a stand-in for slime", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await standIn();
    process.env["SPOTTER_SLIME_DIR"] = dir;
    process.env["STAND_IN_OPTIONS"] = join(dir, "options.json");
    process.env["SPOTTER_AGENT_OPTIONS"] = JSON.stringify({ overlay_marks_dir: join(dir, "marks") });
  });
  ownHome();
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("trains ten steps, changes its image first, and goes on for twenty more", async () => {
    // Any weights will do under the name: the stand-in reads none.
    await models.push(new URL("../../engine/models/nano", import.meta.url), { name: "Qwen/Qwen3.5-4B" });
    const config = {
      model: "Qwen/Qwen3.5-4B",
      dataset: Dataset.fromArray(
        ["rain", "snow", "fog"].map((keywords) => ({ keywords })),
        { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." },
      ),
      rewards: join(dir, "rewards.ts"),
      imageOverlay: [`echo changed >> ${join(dir, "changed")}`],
    };
    const recipe = {
      evalInterval: null,
      rolloutNumGpus: 8,
      nSamplesPerPrompt: 8,
      applyChatTemplateKwargs: '{"enable_thinking": false}',
    };
    const first = await new TrainConfig({
      ...config,
      recipe: recipes.slime({ ...recipe, numRollout: 10, saveInterval: 5 }),
    }).launch();
    const result = await first.result();
    expect(result.checkpoints().map(({ step }) => step)).toEqual([5, 10]);
    expect(await readFile(join(dir, "changed"), "utf8")).toBe("changed\n");
    await first.refresh();
    // The run's own reward, in its isolate, of answers of 10 and 11 letters.
    expect(first.record.metrics).toMatchObject({ "reward/mean": 10.5, loss: 0.25 });

    const sampled = await first.rollouts(10);
    expect(sampled).toMatchObject([
      { step: 10, tokenIds: [7, 8, 9, 1, 2], verdict: { total: 10 } },
      { group: 0 },
    ]);

    const checkpoint = result.checkpoints().at(-1);
    const more = await new TrainConfig({
      ...config,
      ...(checkpoint && { startFrom: checkpoint }),
      recipe: recipes.slime({ ...recipe, numRollout: 20 }),
    }).launch();
    const last = (await more.result()).checkpoints().at(-1);
    expect(last?.step).toBe(20);
    // The same commands: the image that they changed is the same, too.
    expect(await readFile(join(dir, "changed"), "utf8")).toBe("changed\n");
    const iteration = last?.record.files.find(({ path }) => path.endsWith(".distcp"));
    expect(iteration?.path).toBe("trainer/iter_0000029/__0_0.distcp");
    // Thirty steps on the base, none twice: its state is a word of the row for each.
    const words = [..."Write a haiku about ".repeat(30)].length + 10 * "rainsnowfog".length + 30;
    expect(iteration?.size).toBe("weights of the base".length + 30 * " + ".length + words);
  }, 30_000);

  it("converts the model once, by a job before both runs that ask for it, and each checkpoint beside them", async () => {
    const dataset = Dataset.fromArray([{ q: "a" }], { inputColumn: "q" });
    const logOf = async (): Promise<string[]> => {
      const run = await new TrainConfig({
        model: "Qwen/Qwen3.5-4B",
        dataset,
        rewards: join(dir, "rewards.ts"),
        recipe: recipes.slime({ numRollout: 1, convertToMegatron: true, convertToHf: true }),
      }).launch();
      const [checkpoint] = (await run.result()).checkpoints();
      const paths = checkpoint?.record.files.map(({ path }) => path) ?? [];
      expect(paths).toContain("model/model-00000-of-00001.safetensors");
      const shard = checkpoint?.record.files.find(({ path }) => path.endsWith(".distcp"));
      expect(shard?.size).toBe("weights of the base converted + a".length);
      const log: string[] = [];
      for await (const { body } of run.events()) {
        if (body.type === "phase") log.push(`phase ${body.phase}`);
        if (body.type === "log") log.push(body.message);
        if (body.type === "attempt") log.push(`attempt ${body.attempt}`);
      }
      return log;
    };
    const first = await logOf();
    const [waits, made, begins] = [
      "phase convert-model",
      "conversion of the model to Megatron's format: done",
      "attempt 1",
    ].map((line) => first.indexOf(line));
    expect(waits).toBeGreaterThan(-1);
    expect(made).toBeGreaterThan(waits ?? 0);
    expect(begins).toBeGreaterThan(made ?? 0);
    expect(first.filter((line) => line.startsWith("converting, attempt"))).toHaveLength(1);
    expect(first).toContainEqual(expect.stringMatching(/^Checkpoint .*@1 has its Hugging Face weights\.$/));
    expect(first.indexOf("checkpoint 1 is stored, without Hugging Face weights")).toBeGreaterThan(
      begins ?? 0,
    );
    const second = await logOf();
    expect(second).toContainEqual(expect.stringContaining("the model was converted before"));
    expect(second).not.toContainEqual(expect.stringContaining("converting, attempt"));
  }, 30_000);

  it("ends a run whose weights cannot be converted, with the converter's last lines", async () => {
    const tool = join(dir, "tools", "convert_hf_to_torch_dist.py");
    const works = await readFile(tool, "utf8");
    await writeFile(tool, "import sys\nsys.exit('ValueError: these shards fit nothing')\n");
    // Of another shape, so that nothing of it is kept.
    await models.push(new URL("../../engine/models/nano", import.meta.url), { name: "Qwen/Qwen3-0.6B" });
    const run = await new TrainConfig({
      model: "Qwen/Qwen3-0.6B",
      dataset: Dataset.fromArray([{ q: "a" }], { inputColumn: "q" }),
      rewards: join(dir, "rewards.ts"),
      recipe: recipes.slime({ numRollout: 1, convertToMegatron: true }),
    }).launch();
    await expect(run.result()).rejects.toMatchObject({ code: "run_failed" });
    await run.refresh();
    expect(run.record.failure).toMatchObject({
      code: "conversion_failed",
      message: expect.stringContaining("these shards fit nothing") as string,
    });
    expect(run.record.failure?.logTail).toContainEqual(expect.stringContaining("these shards fit nothing"));
    expect(run.record.attempt).toBe(0);
    await writeFile(tool, works);
  }, 30_000);

  it("keeps a checkpoint whose weights could not be converted, and has them made when it is asked to", async () => {
    const tool = join(dir, "tools", "convert_torch_dist_to_hf.py");
    const works = await readFile(tool, "utf8");
    await writeFile(tool, "import sys\nsys.exit('KeyError: no such layer')\n");
    const run = await new TrainConfig({
      model: "Qwen/Qwen3.5-4B",
      dataset: Dataset.fromArray([{ q: "a" }], { inputColumn: "q" }),
      rewards: join(dir, "rewards.ts"),
      recipe: recipes.slime({ numRollout: 2, saveInterval: 1, convertToHf: true }),
    }).launch();
    const saved = (await run.result()).checkpoints();
    expect(saved.map(({ step }) => step)).toEqual([1, 2]);
    const [first, last] = saved;
    expect(last?.record.conversion).toMatchObject({
      state: "failed",
      failure: {
        message: expect.stringContaining("no such layer") as string,
        logTail: expect.arrayContaining([expect.stringContaining("no such layer")]) as string[],
      },
    });
    const endpoint = Endpoint.launch("Qwen/Qwen3.5-4B", { checkpoint: last?.id ?? "" });
    await expect(endpoint).rejects.toMatchObject({ code: "weights_missing" });
    await writeFile(tool, works);
    await last?.convert();
    await vi.waitFor(async () => {
      const { record } = await Checkpoint.get(last?.id ?? "");
      expect(record.files.map(({ path }) => path)).toContain("model/model-00000-of-00001.safetensors");
      expect(record.conversion).toBeUndefined();
    }, LONG);
    // It goes on from its state, whether it has weights or not.
    const more = await new TrainConfig({
      model: "Qwen/Qwen3.5-4B",
      dataset: Dataset.fromArray([{ q: "a" }], { inputColumn: "q" }),
      rewards: join(dir, "rewards.ts"),
      startFrom: { checkpoint: first?.id ?? "", mode: "continue" },
      recipe: recipes.slime({ numRollout: 1 }),
    }).launch();
    expect((await more.result()).checkpoints()).toHaveLength(1);
  }, 40_000);

  it("does what a recipe of no engine says", async () => {
    const dataset = Dataset.fromArray([{ q: "a", a: "b" }], { inputColumn: "q", outputColumn: "a" });
    const sft = { model: "Qwen/Qwen3.5-4B", dataset, recipe: recipes.sft({ steps: 2, learningRate: 1e-6 }) };
    const slime = { saveInterval: 1, useTensorboard: true };
    const run = await new TrainConfig({ ...sft, engine: "slime", slime }).launch();
    expect((await run.result()).checkpoints().map(({ step }) => step)).toEqual([1, 2]);
    await run.refresh();
    // The first is in TensorBoard's files alone.
    expect(run.record.metrics).toMatchObject({ "train/critic-value_loss": 1, loss: 0.25 });
    const rewards = join(dir, "rewards.ts");
    const twice = new TrainConfig({ ...sft, rewards, recipe: recipes.slime({}), slime: { saveInterval: 1 } });
    await expect(twice.launch()).rejects.toMatchObject({ code: "invalid_input", where: "slime" });
  }, 30_000);

  it("says at launch what slime would not take, and where there is no slime", async () => {
    const dataset = Dataset.fromArray([{ q: "a" }], { inputColumn: "q" });
    const launch = (recipe: ReturnType<typeof recipes.slime>) =>
      new TrainConfig({
        model: "Qwen/Qwen3.5-4B",
        dataset,
        recipe,
        rewards: join(dir, "rewards.ts"),
      }).launch();
    await expect(
      launch(recipes.slime({ tensorModelParallelSize: 3, flags: { "num-rollouts": 2 } })),
    ).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(
        /flags.num-rollouts: .*num-rollout\?[^]*tensorModelParallelSize/,
      ) as string,
    });
    await rm(join(dir, "train.py"));
    await expect(launch(recipes.slime({}))).rejects.toMatchObject({ code: "engine_missing" });
  });
});
