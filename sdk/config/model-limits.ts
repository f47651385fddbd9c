import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Models that come with the package lie here, from source and from dist alike. */
const BUILT_IN = join(import.meta.dirname, "..", "..", "engine", "models");

/** What a model takes, where its config.json says so. */
export interface ModelLimits {
  /** Longest sequence in tokens. */
  window?: number;
  /** An adapter of a higher rank than the model is wide can do no more. */
  rank?: number;
}

/**
 * Limits of a model whose config.json is at hand: one of the package, or a folder. Empty otherwise, and for what is not
 * readable: whoever loads the model says what is wrong with it.
 *
 * @example
 * modelLimits("spotter/nano"); // { window: 1024, rank: 128 }
 */
export function modelLimits(name: string): ModelLimits {
  const folder =
    isAbsolute(name) || name.startsWith(".") ? name : join(BUILT_IN, name.replace(/^spotter\//, ""));
  try {
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Record<string, unknown>;
    const { max_position_embeddings: window, hidden_size: rank } = config;
    return {
      ...(typeof window === "number" && { window }),
      ...(typeof rank === "number" && { rank }),
    };
  } catch {
    return {};
  }
}
