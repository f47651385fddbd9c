import { existsSync } from "node:fs";
import { join } from "node:path";
import { isPlainObject } from "./coerce.ts";
import { type Catalogue, factsOf } from "./catalogue.ts";
import { type ConfigDocument, positionOf } from "./config-document.ts";
import { type Finding, type Path, placed } from "./finding.ts";
import { setValue } from "./overrides.ts";
import { readText } from "./read-text.ts";

/** A file with the name of a model to try the project with on this machine. */
const LOCAL_MODEL = "local_model";

export interface Substitutes {
  model?: string | undefined;
  teacher?: string | undefined;
}

/** What the folder itself says to try it with, where the command line says nothing. */
export function withLocalModel(folder: string, given: Substitutes): Substitutes & { source: string } {
  const path = join(folder, LOCAL_MODEL);
  if (given.model !== undefined || !existsSync(path))
    return { ...given, source: `--model ${given.model ?? ""}` };
  const read = readText(path);
  const name = "text" in read ? (read.text.trim().split(/\s+/)[0] ?? "") : "";
  return { ...given, model: name || undefined, source: LOCAL_MODEL };
}

/** Whether these words put a model in the place of the project's. */
export function isSubstituted(origin: string | undefined): boolean {
  return origin !== undefined && /^(?:--model|--teacher|local_model)\b/.test(origin);
}

/**
 * Puts other models in place of the project's. What they cannot take is lowered to what they can, and said:
 * trying a project on a laptop must not need another config.yml.
 */
export function substitute(
  document: ConfigDocument,
  catalogue: Catalogue,
  { model, teacher, source }: Substitutes & { source: string },
): Finding[] {
  const findings: Finding[] = [];
  if (model !== undefined) {
    setValue(document, ["model", "path"], model, source);
    const facts = factsOf(catalogue, model);
    if (facts) {
      findings.push(...lowered(document, ["model", "qlora_rank"], facts.maxRank, "rank", model));
      const isSampled = ["rl", "distill"].includes(String(valueAt(document, ["dataset_type"])));
      // The default is cut where it is used.
      if (isSampled)
        findings.push(
          ...lowered(document, ["rollout", "max_context_window"], facts.context, "window", model),
        );
    }
  }
  // Only a distillation has one; the flag may stand in a script for any project.
  if (teacher !== undefined && valueAt(document, ["dataset_type"]) === "distill")
    setValue(document, ["teacher", "path"], teacher, `--teacher ${teacher}`);
  return findings;
}

function lowered(document: ConfigDocument, path: Path, most: number, what: string, model: string): Finding[] {
  const value = Number(valueAt(document, path) ?? 0);
  if (!(value > most)) return [];
  const position = positionOf(document, path);
  setValue(document, path, most, `${document.file}:${position?.line ?? 1}, lowered for ${model}`);
  const message = `is ${value}; lowered to ${most}, the largest ${what} of ${model}`;
  const hint = "Nothing has to change: the project's own model takes it.";
  return [placed({ code: "clamped", severity: "warning", path, message, hint }, document.file, position)];
}

function valueAt(document: ConfigDocument, path: Path): unknown {
  let at: unknown = document.value;
  for (const key of path) at = isPlainObject(at) ? at[key] : undefined;
  return at;
}
