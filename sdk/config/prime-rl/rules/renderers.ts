import type { RENDERERS } from "../schema/renderer.ts";

type Renderer = (typeof RENDERERS)[number] | "default";

// Exact names only: a fine-tune of the same family may come with another chat template.
const MODELS: readonly (readonly [Renderer, string, readonly string[]])[] = [
  [
    "qwen3",
    "Qwen/Qwen3-",
    [
      "0.6B",
      "1.7B",
      "4B",
      "4B-Instruct-2507",
      "4B-Thinking-2507",
      "8B",
      "14B",
      "32B",
      "30B-A3B",
      "30B-A3B-Instruct-2507",
      "30B-A3B-Thinking-2507",
      "235B-A22B",
    ],
  ],
  ["qwen3.5", "Qwen/Qwen3.5-", ["0.8B", "2B", "4B", "9B", "35B-A3B", "122B-A10B", "397B-A17B"]],
  ["qwen3.6", "Qwen/Qwen3.6-", ["35B-A3B"]],
  ["qwen3-vl", "Qwen/Qwen3-VL-", ["4B-Instruct", "8B-Instruct", "30B-A3B-Instruct"]],
  ["glm-5", "zai-org/GLM-", ["5", "5-FP8", "4.7-Flash"]],
  ["glm-5.1", "zai-org/GLM-", ["5.1"]],
  ["glm-4.5", "zai-org/GLM-", ["4.5-Air"]],
  ["glm-4.5", "THUDM/GLM-", ["4.5-Air"]],
  ["minimax-m2", "MiniMaxAI/MiniMax-", ["M2", "M2.5"]],
  ["deepseek-v3", "deepseek-ai/DeepSeek-", ["V3", "V3-Base"]],
  ["deepseek-r1", "deepseek-ai/DeepSeek-", ["R1", "R1-0528"]],
  ["kimi-k2", "moonshotai/Kimi-", ["K2-Instruct"]],
  ["kimi-k2.5", "moonshotai/Kimi-", ["K2.5", "K2.6"]],
  ["nemotron-3", "nvidia/NVIDIA-Nemotron-3-", ["Nano-30B-A3B-BF16", "Super-120B-A12B-BF16"]],
  ["nemotron-3-ultra", "nvidia/NVIDIA-Nemotron-3-", ["Ultra-550B-A55B-BF16", "Ultra-550B-A55B-FP8"]],
  ["llama-3", "meta-llama/Llama-3.2-", ["1B-Instruct", "3B-Instruct"]],
  ["laguna-xs.2", "poolside/Laguna-", ["XS.2"]],
  ["laguna-xs-2.1", "poolside/Laguna-", ["XS-2.1"]],
  ["gpt-oss", "openai/gpt-oss-", ["20b", "120b"]],
  // The embedded engine renders by the chat template of its own model.
  ["default", "spotter/", ["nano"]],
];

const byModel: ReadonlyMap<string, Renderer> = new Map(
  MODELS.flatMap(([renderer, prefix, names]) => names.map((name) => [prefix + name, renderer] as const)),
);

/** The renderer that `renderer.name = "auto"` means for a model; undefined where none is known to be right. */
export const rendererOf = (model: string): Renderer | undefined => byModel.get(model);
