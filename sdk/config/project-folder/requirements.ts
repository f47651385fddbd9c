import { codeFinding } from "./code-facts.ts";
import type { Finding } from "./finding.ts";

/** PEP 508: a name, extras, versions or an address, a marker. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/;
const VERSION = /^(?:===?|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9][\w.*+!-]*$/;
const OPTION =
  /^(?:-[rcefi]\b|--(?:requirement|constraint|editable|index-url|extra-index-url|find-links|no-index|hash|pre|no-binary|only-binary|prefer-binary|require-hashes|trusted-host|use-feature|config-settings|global-option)\b)/;
const ADDRESS = /^(?:(?:git|hg|svn|bzr)\+|https?:\/\/|file:)\S+/;
const PATH = /^(?:\.{1,2}\/|\/|[\w.-]+\.(?:whl|tar\.gz|zip)$)/;

/** Checks requirements.txt line by line as pip reads it; whether a package exists is not asked. */
export function requirementFindings(text: string, file: string): Finding[] {
  const findings: Finding[] = [];
  for (const { content, line } of logicalLines(text)) {
    const spec = withoutComment(content);
    if (spec === "") continue;
    const message = faultOf(spec);
    if (message === undefined) continue;
    findings.push(
      codeFinding(
        "requirements_invalid",
        file,
        { line, column: 1 },
        "",
        message,
        "Write name==1.2.3, one a line.",
      ),
    );
    // A file of another format: one word is enough.
    if (message.startsWith("is TOML")) break;
  }
  return findings;
}

function faultOf(spec: string): string | undefined {
  if (/^\[[\w.-]+\]$/.test(spec) || /^[\w-]+\s*=\s*["[{]/.test(spec))
    return "is TOML, expected a line that pip reads";
  if (OPTION.test(spec) || ADDRESS.test(spec) || PATH.test(spec)) return undefined;
  const name = NAME.exec(spec)?.[0];
  if (name === undefined) return `"${shown(spec)}" names no package`;
  const afterName = spec
    .slice(name.length)
    .replace(/^\s*\[[\w\s,.-]*\]/, "")
    .trim();
  if (afterName.startsWith("@"))
    return ADDRESS.test(afterName.slice(1).trim()) ? undefined : "the address after @ is none";
  const [versions = "", ...marker] = afterName.replace(/\s--hash=\S+/g, "").split(";");
  const bare = versions.trim().replace(/^\((.*)\)$/, "$1");
  const bad = bare === "" ? undefined : bare.split(",").find((each) => !VERSION.test(each.trim()));
  if (bad !== undefined) return `"${shown(bad.trim() || spec)}" is no version`;
  return marker.length > 0 && !/\S/.test(marker.join(";")) ? "the marker after ; is empty" : undefined;
}

/** Lines that end with \ go on. */
function logicalLines(text: string): { content: string; line: number }[] {
  const lines: { content: string; line: number }[] = [];
  let open: { content: string; line: number } | undefined;
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const continues = raw.endsWith("\\");
    const content = continues ? raw.slice(0, -1) : raw;
    if (open) open.content += ` ${content}`;
    else open = { content, line: index + 1 };
    if (continues) continue;
    lines.push(open);
    open = undefined;
  }
  return open ? [...lines, open] : lines;
}

function withoutComment(content: string): string {
  return content.replace(/(?:^|\s)#.*$/, "").trim();
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
