import type { Hardware } from "../hardware.ts";
import type { NativePlan } from "../native-plan.ts";
import published from "./options/vllm.json" with { type: "json" };
import { givenFaults, type EngineFault } from "./given-options.ts";
import { optionName, toArgv, type OptionList, type OptionValue } from "./option-list.ts";
import { gpuMemoryGiB, presetOf } from "./presets.ts";
import type { VllmSettings } from "./vllm-settings.ts";

export const VLLM_OPTIONS: OptionList = published;

export interface VllmParams {
  /** The name that requests bear. */
  endpoint: string;
  model: { name: string };
  /** What it serves instead of the model, or as an adapter of it. */
  checkpoint?: "full" | "lora";
  /** Of the adapter, where it is known. */
  loraRank?: number;
  hardware?: Hardware;
  vllm?: VllmSettings;
}

/** The values that `--max-lora-rank` can have (vllm/config/lora.py). */
const LORA_RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512] as const;
/** vLLM refuses adapters of a higher rank than it was started for, and keeps memory for each: the least it is started for. */
const USUAL_LORA_RANK = 64;

/** What `vllm serve` is started with for an endpoint. */
export function vllmPlan(params: VllmParams): NativePlan {
  const { checkpoint } = params;
  const model = checkpoint === "full" ? "{{spotter.checkpointDir}}" : "{{spotter.modelDir}}";
  return {
    engine: "vllm",
    files: [],
    env: {
      VLLM_API_KEY: "{{spotter.accessKey}}",
      VLLM_ALLOW_RUNTIME_LORA_UPDATING: "1",
      VLLM_NO_USAGE_STATS: "1",
      // Finds the plug-in that fetches adapters, which asks with the token of the job.
      PYTHONPATH: "{{spotter.agentDir}}",
      VLLM_PLUGINS: "spotter_adapters",
      SPOTTER_JOB_TOKEN: "{{spotter.jobToken}}",
      PYTHONUNBUFFERED: "1",
    },
    overlay: [],
    before: [],
    conversions: {},
    argv: ["vllm", "serve", model, ...toArgv(VLLM_OPTIONS, vllmOptions(params))],
    startedSteps: 0,
  };
}

/** Every option by its own name: the user's win over what is known of the model. */
export function vllmOptions({
  endpoint,
  model,
  checkpoint,
  loraRank = USUAL_LORA_RANK,
  hardware,
  vllm = {},
}: VllmParams): Record<string, OptionValue> {
  const { flags = {}, enableLora = true, ...settings } = vllm;
  const preset = presetOf(model.name);
  const parsers = parsersOf(model.name);
  const hasLora = checkpoint === "lora" || (enableLora && checkpoint === undefined);
  const given: Record<string, OptionValue> = {
    // An adapter that is an endpoint of its own has that one's name, and its base another.
    "served-model-name": checkpoint === "lora" ? `base-of-${endpoint}` : endpoint,
    host: "{{spotter.host}}",
    port: "{{spotter.port}}",
    "tensor-parallel-size": hardware?.count ?? preset?.serve.count ?? 1,
    ...(preset === undefined
      ? {}
      : {
          "max-model-len": preset.contextTokens,
          "gpu-memory-utilization": preset.serve.memoryShare,
          "max-num-seqs": preset.serve.maxRunningRequests,
        }),
    ...(parsers.tools === undefined
      ? {}
      : { "enable-auto-tool-choice": true, "tool-call-parser": parsers.tools }),
    ...(parsers.reasoning === undefined ? {} : { "reasoning-parser": parsers.reasoning }),
    ...(hasLora
      ? { "enable-lora": true, "max-lora-rank": roomFor(loraRank) ?? USUAL_LORA_RANK, "max-loras": 4 }
      : {}),
    ...(checkpoint === "lora" ? { "lora-modules": [`${endpoint}={{spotter.checkpointDir}}`] } : {}),
  };
  for (const [name, value] of Object.entries({ ...settings, ...flags }))
    if (value !== undefined) given[optionName(name)] = value;
  return given;
}

/** Options by which the gateway finds a replica and is let in. */
const OURS: Readonly<Record<string, string>> = {
  host: "Leave it out.",
  port: "Leave it out: a replica takes a free one.",
  uds: "Leave it out: the gateway asks at a port.",
  "root-path": "Leave it out.",
  "api-key": "Leave it out: each replica has a key of its own, which no list of processes shows.",
  "served-model-name": "Give the endpoint the name.",
};

/** Everything that would fail on the GPUs, found before one is paid for. */
export function vllmFaults(params: VllmParams): EngineFault[] {
  const { flags = {}, ...settings } = params.vllm ?? {};
  const faults = givenFaults(VLLM_OPTIONS, { at: "vllm", settings, flags }, OURS);
  // What is wrong cannot be counted with; what is right is GPUs like those of the settings.
  const options = vllmOptions({ ...params, vllm: faults.length > 0 ? settings : { ...settings, flags } });
  const gpus = params.hardware?.count ?? presetOf(params.model.name)?.serve.count ?? 1;
  const parallel =
    Number(options["tensor-parallel-size"]) *
    Number(options["pipeline-parallel-size"] ?? 1) *
    Number(options["data-parallel-size"] ?? 1);
  if (parallel !== gpus)
    faults.push({
      where: "vllm.tensorParallelSize",
      message: `times pipeline and data parallelism is ${parallel}, and there are ${gpus} GPUs`,
      hint: `Leave it out, or ask for hardware: { count: ${parallel} }.`,
    });
  return [
    ...faults,
    ...rankFaults(params, options),
    ...memoryFaults(params, gpus, Number(options["gpu-memory-utilization"] ?? 0.9)),
  ];
}

/** The least setting with room for adapters of such a rank. */
function roomFor(rank: number): number | undefined {
  return LORA_RANKS.find((each) => each >= Math.max(rank, USUAL_LORA_RANK));
}

function rankFaults(
  { checkpoint, loraRank }: VllmParams,
  options: Readonly<Record<string, OptionValue>>,
): EngineFault[] {
  const most = LORA_RANKS.at(-1) ?? 0;
  const where = "vllm.maxLoraRank";
  const set = options["max-lora-rank"];
  if (set !== undefined && !LORA_RANKS.some((each) => each === Number(set)))
    return [{ where, message: `is ${String(set)}, and vLLM takes ${LORA_RANKS.join(", ")}` }];
  if (checkpoint !== "lora" || loraRank === undefined || loraRank <= Number(set)) return [];
  if (loraRank > most)
    return [
      {
        where: "checkpoint",
        message: `is an adapter of rank ${loraRank}, and vLLM takes none above ${most}`,
        hint: "Serve it on the embedded engine, or train with a lower rank.",
      },
    ];
  return [
    {
      where,
      message: `is ${String(set)}, and the checkpoint is an adapter of rank ${loraRank}`,
      hint: `Leave it out, or give ${roomFor(loraRank)}.`,
    },
  ];
}

function memoryFaults({ model, hardware, vllm }: VllmParams, gpus: number, share: number): EngineFault[] {
  const preset = presetOf(model.name);
  const gpu = hardware?.gpu ?? preset?.serve.gpu;
  if (preset === undefined || gpu === undefined || vllm?.quantization !== undefined) return [];
  // Two bytes a parameter, and a tenth more for the cache to be of any use.
  const needed = (preset.billions * 2e9 * 1.1) / 2 ** 30;
  const has = gpuMemoryGiB(gpu) * gpus * share;
  if (needed <= has) return [];
  const fits = [1, 2, 4, 8].find((count) => needed <= gpuMemoryGiB(gpu) * count * share);
  return [
    {
      where: "hardware",
      message: `has ${Math.floor(has)} GiB for ${model.name}, whose weights take ${Math.ceil(needed)} GiB with a cache`,
      hint: fits === undefined ? "Take larger GPUs." : `${fits} × ${gpu} hold it.`,
    },
  ];
}

/** How models write tool calls and what they think, by vLLM's names for it; the first pattern that fits. */
const PARSERS: readonly [RegExp, { tools?: string; reasoning?: string }][] = [
  [/qwen3-coder/, { tools: "qwen3_coder" }],
  [/qwen3\.[5-9]/, { tools: "qwen3_xml", reasoning: "qwen3" }],
  [/qwen3.*instruct/, { tools: "hermes" }],
  [/qwen3|qwq/, { tools: "hermes", reasoning: "qwen3" }],
  [/qwen2/, { tools: "hermes" }],
  [/gpt-oss/, { tools: "openai", reasoning: "openai_gptoss" }],
  [/deepseek-v3\.2/, { tools: "deepseek_v32", reasoning: "deepseek_v3" }],
  [/deepseek-v3\.1/, { tools: "deepseek_v31", reasoning: "deepseek_v3" }],
  [/deepseek-r1/, { tools: "deepseek_v3", reasoning: "deepseek_r1" }],
  [/deepseek-v3/, { tools: "deepseek_v3" }],
  [/glm-4\.[7-9]|glm-5/, { tools: "glm47", reasoning: "glm47" }],
  [/glm-4\.[56]/, { tools: "glm45", reasoning: "glm45" }],
  [/kimi-k2/, { tools: "kimi_k2", reasoning: "kimi_k2" }],
  [/minimax-m2/, { tools: "minimax_m2", reasoning: "minimax_m2" }],
  [/llama-4/, { tools: "llama4_pythonic" }],
  [/llama-3/, { tools: "llama3_json" }],
  [/mistral|ministral|devstral/, { tools: "mistral" }],
  [/gemma-?4/, { tools: "gemma4", reasoning: "gemma4" }],
  [/granite-4/, { tools: "granite4" }],
  [/phi-4-mini/, { tools: "phi4_mini_json" }],
  [/seed-oss/, { tools: "seed_oss", reasoning: "seed_oss" }],
];

export function parsersOf(model: string): { tools?: string; reasoning?: string } {
  const name = model.toLowerCase();
  return PARSERS.find(([pattern]) => pattern.test(name))?.[1] ?? {};
}
