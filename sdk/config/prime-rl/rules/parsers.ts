type Patterns = readonly (readonly [pattern: RegExp, parser: string])[];

// The first that matches decides; so the exceptions of a family stand before it.
const TOOL_CALLS: Patterns = [
  [/^deepseek-ai\/DeepSeek-V3\.2/, "deepseek_v32"],
  [/^deepseek-ai\/DeepSeek-V3\.1/, "deepseek_v31"],
  [/^zai-org\/GLM-4\.5/, "glm45"],
  [/^zai-org\/GLM-(4\.7|5)/, "glm47"],
  [/^MiniMaxAI\/MiniMax-M2/, "minimax_m2"],
  [/^PrimeIntellect\/INTELLECT-3/, "qwen3_coder"],
  [/^nvidia\/NVIDIA-Nemotron-3/, "qwen3_coder"],
  [/^stepfun-ai\/Step-3\.5/, "step3p5"],
  [/^Qwen\/Qwen3\.5-/, "qwen3_coder"],
  [/^Qwen\/Qwen3-Coder/, "qwen3_coder"],
  [/^Qwen\/Qwen3-/, "hermes"],
];

const REASONING: Patterns = [
  [/^deepseek-ai\/DeepSeek-V3\.[12]/, "deepseek_r1"],
  [/^zai-org\/GLM-/, "glm45"],
  [/^MiniMaxAI\/MiniMax-M2/, "minimax_m2_append_think"],
  [/^PrimeIntellect\/INTELLECT-3/, "deepseek_r1"],
  [/^nvidia\/NVIDIA-Nemotron-3-Super/, "nemotron_v3"],
  [/^nvidia\/NVIDIA-Nemotron-3-Nano/, "nano_v3"],
  [/^stepfun-ai\/Step-3\.5/, "step3p5"],
  [/^Qwen\/Qwen3-.*Thinking/, "deepseek_r1"],
  [/^Qwen\/Qwen3\.5-/, "qwen3"],
];

const first = (patterns: Patterns, model: string): string | null =>
  patterns.find(([pattern]) => pattern.test(model))?.[1] ?? null;

/** The parser that `tool_call_parser = "auto"` means for a model; null where none is known. */
export const toolCallParser = (model: string): string | null => first(TOOL_CALLS, model);

/** The same for `reasoning_parser = "auto"`. */
export const reasoningParser = (model: string): string | null => first(REASONING, model);
