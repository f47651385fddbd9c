import { describe, expect, it } from "vitest";
import {
  parsersOf,
  VLLM_OPTIONS,
  vllmFaults,
  vllmPlan,
  type VllmParams,
} from "../../../../sdk/schema/engines/vllm-plan.ts";
import { MODEL_PRESETS } from "../../../../sdk/schema/engines/presets.ts";
import { vllmSettings } from "../../../../sdk/schema/engines/vllm-settings.ts";

const BASE: VllmParams = { endpoint: "base", model: { name: "Qwen/Qwen3-4B" } };

describe("what vLLM is started with", () => {
  it.each<[string, VllmParams, string]>([
    [
      "a model that is known",
      { ...BASE, hardware: { gpu: "H100", count: 1, spot: false } },
      "vllm serve {{spotter.modelDir}} --served-model-name base --host {{spotter.host}} --port {{spotter.port}} " +
        "--tensor-parallel-size 1 --max-model-len 32768 --gpu-memory-utilization 0.85 --max-num-seqs 16 " +
        "--enable-auto-tool-choice --tool-call-parser hermes --reasoning-parser qwen3 " +
        "--enable-lora --max-lora-rank 64 --max-loras 4",
    ],
    [
      "one that nobody knows, on two GPUs",
      { endpoint: "e", model: { name: "acme/novel" }, hardware: { gpu: "L4", count: 2, spot: false } },
      "vllm serve {{spotter.modelDir}} --served-model-name e --host {{spotter.host}} --port {{spotter.port}} " +
        "--tensor-parallel-size 2 --enable-lora --max-lora-rank 64 --max-loras 4",
    ],
    [
      "a checkpoint of all weights",
      { endpoint: "e", model: { name: "acme/novel" }, checkpoint: "full" },
      "vllm serve {{spotter.checkpointDir}} --served-model-name e --host {{spotter.host}} --port {{spotter.port}} " +
        "--tensor-parallel-size 1",
    ],
    [
      "a LoRA checkpoint as an endpoint of its own",
      { endpoint: "e", model: { name: "acme/novel" }, checkpoint: "lora" },
      "vllm serve {{spotter.modelDir}} --served-model-name base-of-e --host {{spotter.host}} --port {{spotter.port}} " +
        "--tensor-parallel-size 1 --enable-lora --max-lora-rank 64 --max-loras 4 --lora-modules e={{spotter.checkpointDir}}",
    ],
    [
      "the user's own settings, which win",
      {
        endpoint: "e",
        model: { name: "Qwen/Qwen3-0.6B" },
        vllm: {
          maxModelLen: 4096,
          enforceEager: true,
          enableLora: false,
          flags: { "max-logprobs": 50, "enable-prefix-caching": "False" },
        },
      },
      "vllm serve {{spotter.modelDir}} --served-model-name e --host {{spotter.host}} --port {{spotter.port}} " +
        "--tensor-parallel-size 1 --max-model-len 4096 --gpu-memory-utilization 0.88 --max-num-seqs 64 " +
        "--enable-auto-tool-choice --tool-call-parser hermes --reasoning-parser qwen3 --enforce-eager --max-logprobs 50 " +
        "--enable-prefix-caching False",
    ],
  ])("for %s", (_what, params, expected) => {
    const { argv, env } = vllmPlan({
      ...params,
      ...(params.vllm && { vllm: vllmSettings.parse(params.vllm) }),
    });
    expect(argv.join(" ")).toBe(expected);
    // The key of a replica is in its environment, never in what a list of processes shows.
    expect(env["VLLM_API_KEY"]).toBe("{{spotter.accessKey}}");
    for (const word of argv.filter((each) => each.startsWith("--")))
      expect(Object.keys(VLLM_OPTIONS.options)).toContain(word.slice(2));
  });

  it("names parsers that vLLM has, for every pattern", () => {
    const names = [
      "Qwen/Qwen3-Coder-30B", "Qwen/Qwen3.5-4B", "Qwen/Qwen3-4B-Instruct-2507", "Qwen/Qwen3-8B", "Qwen/Qwen2.5-7B",
      "openai/gpt-oss-20b", "deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-R1",
      "deepseek-ai/DeepSeek-V3", "zai-org/GLM-4.7", "zai-org/GLM-4.5", "moonshotai/Kimi-K2", "MiniMaxAI/MiniMax-M2",
      "meta-llama/Llama-4-Scout", "meta-llama/Llama-3.1-8B", "mistralai/Mistral-7B", "google/gemma-4-27b",
      "ibm/granite-4.0", "microsoft/Phi-4-mini", "ByteDance/Seed-OSS-36B",
    ]; // prettier-ignore
    for (const name of names) {
      const { tools, reasoning } = parsersOf(name);
      expect(VLLM_OPTIONS.options["tool-call-parser"]?.choices, name).toContain(tools);
      if (reasoning !== undefined)
        expect(VLLM_OPTIONS.options["reasoning-parser"]?.choices, name).toContain(reasoning);
    }
    expect(parsersOf("acme/novel")).toEqual({});
  });
});

describe("what cannot be served by vLLM is refused before launch", () => {
  it.each<[string, Partial<VllmParams>, RegExp]>([
    [
      "an unknown option",
      { vllm: { flags: { "max-model-length": 3 } } },
      /no option of vllm-0.33.0.* Did you mean max-model-len\?/,
    ],
    ["a place where nobody asks it", { vllm: { flags: { uds: "/x" } } }, /vllm.flags.uds: /],
    [
      "GPUs that are not there, named among the flags",
      { hardware: { gpu: "L4", count: 1, spot: false }, vllm: { flags: { "data-parallel-size": 4 } } },
      /is 4, and there are 1 GPUs .*count: 4/,
    ],
    ["an unknown parser", { vllm: { toolCallParser: "qwen9" } }, /vllm.toolCallParser: .*must be one of/],
    [
      "the key in the list of processes",
      { vllm: { flags: { "api-key": "x" } } },
      /vllm.flags.api-key: is set by/,
    ],
    [
      "the same twice",
      { vllm: { maxModelLen: 1, flags: { max_model_len: 2 } } },
      /flags.max_model_len: is given as vllm.maxModelLen too/,
    ],
    [
      "GPUs that are not there",
      { hardware: { gpu: "L4", count: 1, spot: false }, vllm: { tensorParallelSize: 4 } },
      /is 4, and there are 1 GPUs .*count: 4/,
    ],
    [
      "weights that do not fit",
      { model: { name: "Qwen/Qwen3-14B" }, hardware: { gpu: "L4", count: 1, spot: false } },
      /hardware: has 18 GiB .* take 31 GiB .* 2 × L4 hold it/,
    ],
  ])("%s", (_what, changes, expected) => {
    const told = vllmFaults({ ...BASE, ...changes }).map(
      ({ where, message, hint = "" }) => `${where}: ${message} ${hint}`,
    );
    expect(told.join("\n")).toMatch(expected);
  });

  it.each<[string, Partial<VllmParams>, string]>([
    ["a rank that vLLM cannot be started for", { vllm: { maxLoraRank: 65 } }, "takes 1, 8, 16, 32, 64, 128"],
    [
      "the same as a flag",
      { vllm: { flags: { "max-lora-rank": "many" } } },
      "maxLoraRank: is many, and vLLM",
    ],
    [
      "an adapter of a higher rank than the setting",
      { checkpoint: "lora", loraRank: 48, vllm: { maxLoraRank: 32 } },
      "is 32, and the checkpoint is an adapter of rank 48 Leave it out, or give 64",
    ],
    [
      "one of a higher rank than any",
      { checkpoint: "lora", loraRank: 513 },
      "checkpoint: is an adapter of rank 513, and vLLM takes none above 512",
    ],
  ])("%s", (_what, changes, expected) => {
    const told = vllmFaults({ ...BASE, ...changes });
    expect(told.map(({ where, message, hint = "" }) => `${where}: ${message} ${hint}`).join("\n")).toMatch(
      expected,
    );
  });

  it("but an adapter whose rank is known gets room, and no less than others", () => {
    const rank = (loraRank: number) => {
      const params: VllmParams = { ...BASE, checkpoint: "lora", loraRank };
      expect(vllmFaults(params)).toEqual([]);
      const { argv } = vllmPlan(params);
      return argv[argv.indexOf("--max-lora-rank") + 1];
    };
    expect([8, 64, 65, 300, 512].map(rank)).toEqual(["64", "64", "128", "320", "512"]);
  });

  it("and every preset passes", () => {
    for (const { names, serve } of MODEL_PRESETS)
      expect(
        vllmFaults({
          endpoint: "e",
          model: { name: names[0] ?? "" },
          hardware: { gpu: serve.gpu, count: serve.count, spot: false },
        }),
      ).toEqual([]);
  });
});
