import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Models that come with the package lie here, from source and from dist alike. */
const BUILT_IN = join(import.meta.dirname, "..", "..", "engine", "models");

/**
 * The longest sequence that a model takes, in tokens, where its config.json is at hand: a model of the package, or a
 * folder. Undefined otherwise, and for what is not readable: whoever loads the model says what is wrong with it.
 */
export function modelWindow(name: string): number | undefined {
  const folder =
    isAbsolute(name) || name.startsWith(".") ? name : join(BUILT_IN, name.replace(/^spotter\//, ""));
  try {
    const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Record<string, unknown>;
    const { max_position_embeddings: window } = config;
    return typeof window === "number" ? window : undefined;
  } catch {
    return undefined;
  }
}
