import type { EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import type { CliContext } from "../context.ts";

const ENTRYPOINTS: ReadonlySet<string> = new Set<EntrypointName>([
  "rl",
  "sft",
  "inference",
  "trainer",
  "orchestrator",
]);

/**
 * Runs the commands whose words follow a schema instead of a list of options. They load their own few modules
 * and none of the other commands'.
 *
 * @returns Whether it was one of them.
 */
export async function runRaw(context: CliContext, words: readonly string[]): Promise<boolean> {
  const [name = "", ...rest] = words;
  if (!ENTRYPOINTS.has(name)) return false;
  const { runEntrypoint } = await import("./rl-entrypoint.ts");
  await runEntrypoint(context, name as EntrypointName, rest);
  return true;
}
