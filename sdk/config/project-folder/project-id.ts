import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const YAML_LINE = /^(project_id[ \t]*:)[ \t]*(""|''|null|~)?[ \t]*(#.*)?(\r?)$/m;
const YAML_FIRST_KEY = /^[A-Za-z_"'][^#\n]*:/m;
const JSON_VALUE = /("project_id"\s*:\s*)(""|null)/;

/** The text of a configuration with its empty project_id filled in; everything else stays as it is, comments too. */
export function withProjectId(text: string, file: string, id: string): string | undefined {
  if (file.endsWith(".json")) {
    if (JSON_VALUE.test(text)) return text.replace(JSON_VALUE, `$1"${id}"`);
    return /^\s*\{\s*"/.test(text)
      ? text.replace(/^(\s*\{)(\s*)/, `$1$2"project_id": "${id}",$2`)
      : undefined;
  }
  if (YAML_LINE.test(text))
    return text.replace(
      YAML_LINE,
      (_, key: string, __, comment = "", end = "") =>
        `${key} "${id}"${comment ? ` ${comment as string}` : ""}${end as string}`,
    );
  const first = YAML_FIRST_KEY.exec(text);
  if (!first) return undefined;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  return `${text.slice(0, first.index)}project_id: "${id}"${end}${text.slice(first.index)}`;
}

/**
 * Gives a folder its id, by which its runs are found again, and writes it into the configuration. Returns undefined
 * where the file cannot be written: the run goes on with an id of its own.
 */
export function fillProjectId(
  folder: string,
  file: string,
  newId: () => string = randomUUID,
): string | undefined {
  const path = join(folder, file);
  const id = newId();
  try {
    const text = withProjectId(readFileSync(path, "utf8"), file, id);
    if (text === undefined) return undefined;
    // Whole or not at all.
    writeFileSync(`${path}.tmp-${process.pid}`, text);
    renameSync(`${path}.tmp-${process.pid}`, path);
    return id;
  } catch {
    return undefined;
  }
}
