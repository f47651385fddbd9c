import { existsSync } from "node:fs";
import { join } from "node:path";
import { codeFinding } from "./code-facts.ts";
import { type ConfigDocument, located } from "./config-document.ts";
import type { ConfigView } from "./config-view.ts";
import type { Finding } from "./finding.ts";
import { PLACEHOLDER } from "./mcp-rules.ts";
import { readText } from "./read-text.ts";

const FILE = ".env";
const LINE = /^(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/;
const REFERENCE = /\$\{?([A-Z][A-Z0-9_]*)\}?/g;

/** Names and values of .env; values are shown nowhere. */
export function readEnv(text: string): {
  values: Map<string, { value: string; line: number }>;
  badLines: number[];
} {
  const values = new Map<string, { value: string; line: number }>();
  const badLines: number[] = [];
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const content = raw.trim();
    if (content === "" || content.startsWith("#")) continue;
    const [, name, rest = ""] = LINE.exec(content) ?? [];
    if (name === undefined) badLines.push(index + 1);
    else values.set(name, { value: unquoted(rest), line: index + 1 });
  }
  return { values, badLines };
}

/** Secrets of a folder: .env line by line, and the names that config.yml refers to. */
export function secretFindings(
  folder: string,
  view: ConfigView,
  environment: Readonly<Record<string, string | undefined>>,
  document: ConfigDocument,
): Finding[] {
  const path = join(folder, FILE);
  const read = existsSync(path) ? readText(path) : { text: "" };
  const { values, badLines } = readEnv("text" in read ? read.text : "");
  const hint = "Write NAME=value, a secret a line.";
  const findings = badLines.map((line) =>
    codeFinding("env_invalid", FILE, { line, column: 1 }, "", "sets nothing", hint, "warning"),
  );
  if ("fault" in read)
    findings.push(codeFinding("env_invalid", FILE, undefined, "", read.fault, hint, "warning"));
  for (const [name, { value, line }] of values)
    if (PLACEHOLDER.test(value))
      findings.push(
        codeFinding(
          "secret_placeholder",
          FILE,
          { line, column: 1 },
          name,
          "was never filled in",
          "Put your own there.",
          "warning",
        ),
      );
  for (const { path: keys, value } of view.texts("rollout.mcp_url"))
    for (const [, name = ""] of value.matchAll(REFERENCE)) {
      if (values.has(name) || environment[name] !== undefined) continue;
      const message = `${name} is set neither in .env nor in the environment`;
      const remedy = `Add a line ${name}=... to .env, which stays with you.`;
      findings.push(
        located(document, { code: "secret_missing", severity: "warning", path: keys, message, hint: remedy }),
      );
    }
  return findings;
}

function unquoted(text: string): string {
  const quoted = /^(['"])(.*)\1\s*(?:#.*)?$/.exec(text)?.[2];
  return quoted ?? text.replace(/\s#.*$/, "").trim();
}
