import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { llama135m, LLAMA_135M } from "../../bench/engine/llama-135m.ts";
import { totalMiB, trainingMemory } from "../../sdk/schema/engine-estimate.ts";
import { NANO_SHAPE } from "../../sdk/schema/model-shape.ts";
import { runSpec } from "../../sdk/schema/run-spec.ts";

const SHA = "0".repeat(64);
const FACTOR = 1.5;

/** As containers are started: see functions/local/container-environment.ts. */
const env = { ...process.env, GLIBC_TUNABLES: "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1" };

async function peakMiB(work: object): Promise<number> {
  const script = join(import.meta.dirname, "peak-memory.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(work)], { env });
  return (JSON.parse(stdout) as { peakMiB: number }).peakMiB;
}

it.each([
  ["spotter/nano", "full", 64],
  ["a Llama of 135M", "lora", 8],
] as const)("the estimate of %s, %s, is near the peak that is measured", async (name, kind, sequences) => {
  const isNano = name === "spotter/nano";
  const modelDir = isNano
    ? join(import.meta.dirname, "../../engine/models/nano")
    : (await llama135m()).modelDir;
  const spec = runSpec.parse({
    kind: "rl",
    model: { name },
    dataset: { sha256: SHA, rows: 3 },
    rewards: { code: { sha256: SHA } },
    adapter: { kind },
    algorithm: { kind: "grpo" },
    rollout: { promptsPerStep: sequences / 2, samplesPerPrompt: 2, maxTokens: 32 },
    trainer: { steps: 1 },
  });
  const measured = await peakMiB({
    modelDir,
    threads: 2,
    sequences,
    promptTokens: 32,
    maxTokens: 32,
    microBatchSize: sequences,
    slots: Math.min(32, sequences),
    adapter: kind === "lora" ? { alpha: 32, ...spec.adapter } : spec.adapter,
    reference: false,
    optimizer: "adamw",
    learnsOnly: false,
  });
  const estimated = totalMiB(trainingMemory(spec, isNano ? NANO_SHAPE : LLAMA_135M, 32 / 1.5));
  process.stderr.write(`${name}: estimated ${estimated} MiB, measured ${Math.round(measured)} MiB\n`);
  expect(measured / estimated).toBeGreaterThan(1 / FACTOR);
  expect(measured / estimated).toBeLessThan(FACTOR);
});
