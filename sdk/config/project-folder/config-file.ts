import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ConfigDocument } from "./config-document.ts";
import type { Finding } from "./finding.ts";
import { readText } from "./read-text.ts";

/** In the order they are looked for. */
export const CONFIG_NAMES = ["config.yml", "config.yaml", "config.json"] as const;

/** Reads the folder's configuration; findings where there is none, or more than one. */
export async function readConfigFile(
  folder: string,
): Promise<{ document?: ConfigDocument; text: string; findings: Finding[] }> {
  const fault = folderFault(folder);
  if (fault !== undefined) return missing(fault.message, fault.hint);
  const found = CONFIG_NAMES.filter((name) => existsSync(join(folder, name)));
  const [file, ...others] = found;
  if (file === undefined) return missing("there is none in this folder");
  const findings = others.map((other) =>
    about("config_ambiguous", other, "warning", `is not read: ${file} stands beside it`, "Keep one of them."),
  );
  const source = readText(join(folder, file));
  if ("fault" in source)
    return {
      text: "",
      findings: [about("config_syntax", file, "error", source.fault, "Write keys as text.")],
    };
  const { text } = source;
  const read = file.endsWith(".json")
    ? (await import("./read-json.ts")).readJson
    : (await import("./read-yaml.ts")).readYaml;
  return { document: read(text, file), text, findings };
}

/** Why nothing can be found in it. To look for a file takes other rights than to list the folder: it needs both. */
function folderFault(folder: string): { message: string; hint?: string } | undefined {
  try {
    if (!statSync(folder).isDirectory())
      return { message: `${folder} is a file, expected the folder it is in` };
    accessSync(folder, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { message: `the folder ${folder} does not exist` };
    const hint = `Make it readable for this user, with \`chmod u+rx ${folder}\` as its owner, or name another with -d.`;
    return { message: `the folder ${folder} cannot be read: ${code}`, hint };
  }
}

function missing(
  message: string,
  hint = "Create it, name the folder with -d, or begin with `spotter init`.",
) {
  return { text: "", findings: [about("config_missing", "config.yml", "error", message, hint)] };
}

function about(
  code: "config_missing" | "config_ambiguous" | "config_syntax",
  file: string,
  severity: "error" | "warning",
  message: string,
  hint: string,
): Finding {
  return { code, severity, file, line: null, column: null, path: "", message, hint };
}
