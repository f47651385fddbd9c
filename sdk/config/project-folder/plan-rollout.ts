import { factsOf } from "./catalogue.ts";
import { type ConfigDocument, sourceOf } from "./config-document.ts";
import { type ProjectConfig, rolloutDefaults } from "./config-schema.ts";
import type { Entry } from "./plan-entry.ts";
import type { Project } from "./project.ts";
import { type ReasoningMode, reasoningMeaning, templateKwargs } from "./reasoning.ts";

/** Tokens of an answer are bounded by the conversation's; the spec takes no more than this. */
const MAX_TOKENS = 131_072;
/** Of the conversations that are learnt from at once: what a pass keeps in memory grows with them. */
const PASS_TOKENS = 8_192;
/** Conversations learnt from at once, however short they are. */
const MAX_PASS = 128;
/** Of a conversation, where the configuration says null. */
const HOUR_S = 3_600;

/** How conversations are sampled, and how many of them are learnt from at once. */
export function rolloutEntries(
  project: Project,
  config: ProjectConfig,
  document: ConfigDocument,
  model: string,
): Entry[] {
  const at = (key: string) => sourceOf(document, key.split("."));
  const rollout = config.rollout ?? rolloutDefaults;
  const facts = factsOf(project.catalogue, model);
  const reach = facts?.context ?? Infinity;
  const window = Math.min(rollout.max_context_window, reach);
  const windowSource = `${at("rollout.max_context_window")}${window < rollout.max_context_window ? `, cut to what ${model} reaches` : ""}`;
  const mode: ReasoningMode | null = rollout.reasoning_mode;
  const meaning = reasoningMeaning(mode, facts?.reasoning ?? "none");
  const isPlain = config.dataset_type === "distill" && config.teacher?.agentic !== true;
  return [
    { path: "rollout.promptsPerStep", value: config.data.batch_size, source: at("data.batch_size") },
    { path: "rollout.samplesPerPrompt", value: config.data.group_size, source: at("data.group_size") },
    { path: "rollout.maxTokens", value: Math.min(window, MAX_TOKENS), source: windowSource },
    { path: "rollout.contextTokens", value: window, source: windowSource },
    isPlain
      ? { path: "rollout.maxTurns", value: 1, source: `${at("teacher.agentic")}: not agentic` }
      : { path: "rollout.maxTurns", value: rollout.max_turns, source: at("rollout.max_turns") },
    {
      path: "rollout.terminationPolicy",
      value: rollout.termination_policy,
      source: at("rollout.termination_policy"),
    },
    {
      path: "rollout.maxToolTokens",
      value: rollout.max_tool_response ?? undefined,
      source: at("rollout.max_tool_response"),
    },
    {
      path: "rollout.includeThinking",
      value: rollout.include_thinking,
      source: at("rollout.include_thinking"),
    },
    {
      path: "rollout.rolloutTimeoutMs",
      value: (rollout.rollout_timeout ?? HOUR_S) * 1_000,
      source: at("rollout.rollout_timeout"),
    },
    {
      path: "rollout.chatTemplateKwargs",
      value: templateKwargs(meaning, facts?.family),
      source: `${at("rollout.reasoning_mode")}${mode === null ? "" : ` (${meaning.kind})`}`,
    },
    {
      path: "trainer.microBatchSize",
      value: Math.max(1, Math.min(MAX_PASS, Math.floor(PASS_TOKENS / window))),
      source: `so that a pass has at most ${PASS_TOKENS} tokens (${windowSource})`,
    },
  ];
}
