import { CATALOGUE } from "../../../../sdk/config/project-folder/catalogue.ts";
import { checkConfig, type CheckedConfig } from "../../../../sdk/config/project-folder/check-config.ts";
import type { Finding } from "../../../../sdk/config/project-folder/finding.ts";
import { readJson } from "../../../../sdk/config/project-folder/read-json.ts";
import { readYaml } from "../../../../sdk/config/project-folder/read-yaml.ts";

/** The sections that every project needs; lines are counted from the first of what stands before it. */
export const BASE = `dataset_type: rl
data: { batch_size: 4 }
model: { path: Qwen/Qwen3-8B }
trainer: { num_epochs: 10 }
`;

/** A whole configuration with one section written anew. */
export function withSection(section: string): string {
  const key = /^\w+/.exec(section)?.[0] ?? "";
  const rest = BASE.split("\n").filter((line) => !line.startsWith(`${key}:`));
  return `${section.trimEnd()}\n${rest.join("\n")}`;
}

export function checkText(text: string, file = "config.yml"): CheckedConfig {
  const document = file.endsWith(".json") ? readJson(text, file) : readYaml(text, file);
  return checkConfig(document, "/nowhere", CATALOGUE);
}

/** `code line:column path`, a warning marked with a W. */
export function short(findings: readonly Finding[]): string[] {
  return findings.map(({ code, severity, line, column, path }) =>
    `${severity === "warning" ? "W " : ""}${code} ${line}:${column} ${path}`.trim(),
  );
}
