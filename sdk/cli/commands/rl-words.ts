import type { EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import type { CliContext } from "../context.ts";
import type { ConfigVerb } from "./config-words.ts";

const ENTRYPOINTS: ReadonlySet<string> = new Set<EntrypointName>([
  "rl",
  "sft",
  "inference",
  "trainer",
  "orchestrator",
]);

const CONFIG_VERBS: ReadonlySet<string> = new Set<ConfigVerb>(["explain", "diff", "schema", "migrate"]);

/**
 * Runs the commands whose words follow a schema instead of a list of options. They load their own few modules
 * and none of the other commands'.
 *
 * @returns Whether it was one of them.
 */
export async function runRaw(context: CliContext, words: readonly string[]): Promise<boolean> {
  const [name = "", ...rest] = words;
  if (name === "config") return runConfigVerb(context, rest);
  if (!ENTRYPOINTS.has(name)) return false;
  const { runEntrypoint } = await import("./rl-entrypoint.ts");
  await runEntrypoint(context, name as EntrypointName, rest);
  return true;
}

async function runConfigVerb(context: CliContext, [verb = "", ...rest]: readonly string[]): Promise<boolean> {
  const isHelp = rest.some((word) => word === "--help" || word === "-h");
  if (!CONFIG_VERBS.has(verb) || isHelp) return false;
  const { runConfig } = await import("./config-words.ts");
  await runConfig(context, verb as ConfigVerb, rest);
  return true;
}
