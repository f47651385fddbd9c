// On a machine with an NVIDIA GPU: `npm run test:gpu`. Settings are those of docs/engines.md; SPOTTER_GPU_MODEL is a
// folder with the weights of Qwen3-0.6B, without which they come from the hub.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dataset, Endpoint, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { ensureDaemon } from "../../sdk/local/connect.ts";
import { ownHome } from "../e2e/home.ts";
import { listGpus, needsOf } from "./needs.ts";

const MODEL = "Qwen/Qwen3-0.6B";
const MINUTE_MS = 60_000;
const SHORT = { max_tokens: 64, chat_template_kwargs: { enable_thinking: false } };
const gpus = listGpus();
const { images, missing } = needsOf(process.env, gpus);
for (const [engine, reason] of Object.entries(missing)) {
  process.stderr.write(`skipped: ${engine} is not tested on a GPU, since ${reason}.\n`);
}
const isIdle = missing.vllm !== undefined && missing.slime !== undefined;

describe.skipIf(isIdle)(`on ${gpus.length} GPU(s)`, () => {
  const { home } = ownHome();
  beforeAll(async () => {
    const hasImages = Object.keys(images).length > 0;
    await ensureDaemon({ home, idleExitMs: undefined, images: hasImages ? images : "none" });
    const folder = process.env["SPOTTER_GPU_MODEL"];
    await models.push(folder ?? `hf:${MODEL}`, { name: MODEL });
  }, 30 * MINUTE_MS);
  afterAll(() => process.stderr.write(`GPUs: ${gpus.join("; ")}\n`));

  it.skipIf(missing.vllm !== undefined)(
    "vLLM serves a small model, which answers",
    async () => {
      const endpoint = await Endpoint.launch(MODEL, {
        name: "gpu",
        engine: "vllm",
        vllm: { maxModelLen: 2048 },
      });
      await endpoint.waitUntilReady({ timeoutMs: 20 * MINUTE_MS });
      const reply = await endpoint.chat([{ role: "user", content: "Say hello." }], SHORT);
      expect(reply.content.trim()).not.toBe("");
      expect(reply.usage.completion_tokens).toBeGreaterThan(0);
      await endpoint.stop();
    },
    30 * MINUTE_MS,
  );

  it.skipIf(missing.slime !== undefined)(
    "slime trains two steps, and leaves a checkpoint",
    async () => {
      const run = await new TrainConfig({
        model: MODEL,
        dataset: Dataset.fromArray(
          ["rain", "snow", "fog", "wind"].map((keywords) => ({ keywords })),
          { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." },
        ),
        rewards: new URL("../../examples/haiku/rewards.ts", import.meta.url),
        recipe: recipes.slime({
          numRollout: 2,
          saveInterval: 2,
          evalInterval: null,
          actorNumGpusPerNode: 1,
          colocate: true,
          rolloutBatchSize: 2,
          nSamplesPerPrompt: 4,
          globalBatchSize: 8,
          rolloutMaxResponseLen: 64,
          // For small GPUs, which trainer and sampler share.
          maxTokensPerGpu: 2048,
          sglangMemFractionStatic: 0.4,
        }),
      }).launch();
      const result = await run.result();
      expect(result.checkpoints().map(({ step }) => step)).toEqual([2]);
      await run.refresh();
      expect(Number.isFinite(run.record.metrics["loss"])).toBe(true);
    },
    60 * MINUTE_MS,
  );
});
