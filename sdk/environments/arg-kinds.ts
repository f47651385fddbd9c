/**
 * What the bundled environments take as `args`, so that a configuration can be checked before anything is started. What
 * each means stands beside the environment.
 *
 * @module
 */
export type ArgKind = "count" | "number" | "text" | "texts" | "flag";

export const ARG_KINDS = {
  "reverse-text": {
    texts: "texts",
    count: "count",
    words: "count",
    seed: "number",
    prompt: "text",
    system: "text",
  },
  "alphabet-sort": {
    min_turns: "count",
    max_turns: "count",
    min_names_per_turn: "count",
    max_names_per_turn: "count",
    similarity_power: "number",
    power_per_turn: "flag",
    num_examples: "count",
    seed: "number",
  },
  wordle: { words: "texts", num_train_examples: "count", seed: "number" },
  "math-env": { count: "count", seed: "number", highest: "count", system: "text" },
} as const satisfies Record<string, Record<string, ArgKind>>;

export type BundledEnvironment = keyof typeof ARG_KINDS;
