import { type ConfigDocument, placeKey } from "./config-document.ts";
import { isPlainObject } from "./coerce.ts";
import type { Finding, Path } from "./finding.ts";
import { readYaml } from "./read-yaml.ts";

/** What findings about words of the command line call their file. */
export const COMMAND_LINE = "(command line)";

/** Sets values from the command line over those of the file: `trainer.num_epochs=2`, `data={batch_size: 4}`. */
export function applyOverrides(document: ConfigDocument, words: readonly string[]): Finding[] {
  return words.flatMap((word): Finding[] => {
    const at = word.indexOf("=");
    const path = word.slice(0, at).split(".").map(step);
    if (at < 1 || path.some((each) => each === ""))
      return [refused(word, "is no key=value", "Write a key with its sections, as trainer.num_epochs=2.")];
    const read = readYaml(word.slice(at + 1), COMMAND_LINE);
    if (read.remarks[0])
      return [refused(word, read.remarks[0].message, "Quote what holds spaces or braces.")];
    const problem = setValue(document, path, read.value ?? null, word);
    return problem ? [refused(word, problem, "Correct the key.")] : [];
  });
}

/** Sets one value and remembers who said so. Returns why it cannot be set. */
export function setValue(
  document: ConfigDocument,
  path: Path,
  value: unknown,
  source: string,
): string | undefined {
  if (!isPlainObject(document.value)) document.value = {};
  let at: unknown = document.value;
  for (const [index, key] of path.entries()) {
    const isLast = index === path.length - 1;
    if (Array.isArray(at)) {
      if (typeof key !== "number" || key >= at.length)
        return `${path.slice(0, index).join(".")} has ${at.length} items`;
      if (isLast) at[key] = value;
      at = at[key] as unknown;
    } else if (isPlainObject(at)) {
      const own = at;
      if (isLast) define(own, String(key), value);
      else if (!Object.hasOwn(own, key) || own[key] === null) define(own, String(key), {});
      at = Object.hasOwn(own, key) ? own[key] : undefined;
    } else return `${path.slice(0, index).join(".")} is no section`;
  }
  // What stood there is written over, with all that was in it.
  const key = placeKey(path).slice(0, -1);
  for (const place of [...document.places.keys()])
    if (place.startsWith(`${key},`)) document.places.delete(place);
  document.origins.set(placeKey(path), source);
  return undefined;
}

/** Also a key such as `__proto__` is nothing but a key. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function step(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}

function refused(word: string, message: string, hint: string): Finding {
  const path = word.split("=")[0] ?? "";
  return {
    code: "override_invalid",
    severity: "error",
    file: COMMAND_LINE,
    line: null,
    column: null,
    path,
    message: `${JSON.stringify(word)}: ${message}`,
    hint,
  };
}
