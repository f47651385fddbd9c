import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

/**
 * Finds `eval(...)` and `new Function(...)` in the user's own files: isolates refuse both when they run. Found
 * by their look, so a mention in a text counts too; that is why it is a warning and not an error.
 */
export async function codeGenerationIn(inputs: readonly string[], folder: string): Promise<string[]> {
  const own = inputs.filter(
    (input) => !/(^|\/)node_modules\/|^spotter:|^spotter-entry\.js$|^<stdin>$/.test(input),
  );
  const found = await Promise.all(
    own.map(async (input) => {
      const text = await readFile(resolve(folder, input), "utf8");
      return [...text.matchAll(/(?<![\w.$])(eval\s*\(|new\s+Function\s*\()/g)].map((match) => {
        const before = text.slice(0, match.index).split("\n");
        const column = (before.at(-1)?.length ?? 0) + 1;
        const what = match[0].startsWith("eval") ? "eval" : "new Function";
        return `${input}:${before.length}:${column}: ${what} is refused in an isolate`;
      });
    }),
  );
  return found.flat();
}
