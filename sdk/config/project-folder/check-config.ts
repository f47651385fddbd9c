import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Catalogue } from "./catalogue.ts";
import { type ConfigDocument, located, originOf } from "./config-document.ts";
import { configRules } from "./config-rules.ts";
import type { ProjectConfig } from "./config-schema.ts";
import type { ConfigView } from "./config-view.ts";
import { type Finding, type Path, placed } from "./finding.ts";
import { parseConfig } from "./parse-config.ts";
import { isSubstituted } from "./substitute.ts";

export interface CheckedConfig {
  config?: ProjectConfig | undefined;
  view: ConfigView;
  findings: Finding[];
}

/** Everything that can be said of the configuration alone. */
export function checkConfig(document: ConfigDocument, folder: string, catalogue: Catalogue): CheckedConfig {
  const { config, view, remarks } = parseConfig(document);
  const rules =
    document.value === undefined ? [] : configRules({ view, catalogue, isModelFolder, isSubstitute });
  const findings = [
    ...document.remarks.map((remark) => placed(remark, document.file, remark.position)),
    ...[...remarks, ...rules].map((remark) => located(document, remark)),
  ];
  return { config, view, findings };

  function isSubstitute(path: Path): boolean {
    return isSubstituted(originOf(document, path));
  }

  function isModelFolder(path: string): boolean {
    const place = resolve(folder, path.replace(/^~(?=\/|$)/, homedir()));
    return existsSync(/\.gguf$/i.test(place) ? place : join(place, "config.json"));
  }
}
