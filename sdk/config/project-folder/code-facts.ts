import type { Finding, FindingCode, Position } from "./finding.ts";
import type { CodeFacts } from "./row-context.ts";

/** A reward or a tool that a file defines. */
export interface CodeItem extends CodeFacts {
  name: string;
  file: string;
  position: Position | undefined;
  /** A gate of the total. */
  precondition: boolean;
  timeoutS: number | undefined;
}

/** What was read of one file of rewards or tools. */
export interface CodeFile {
  file: string;
  items: CodeItem[];
  findings: Finding[];
  /** False where it cannot be read: then names are not checked against it. */
  isReadable: boolean;
  /** Compares answers as mathematics. */
  isMath: boolean;
}

export function codeFinding(
  code: FindingCode,
  file: string,
  position: Position | undefined,
  path: string,
  message: string,
  hint: string,
  severity: "error" | "warning" = "error",
): Finding {
  const { line, column } = position ?? { line: null, column: null };
  return { code, severity, file, line, column, path, message, hint };
}

/** A file of code that is no text. */
export function unreadable(file: string, fault: string): CodeFile {
  const finding = codeFinding("code_syntax", file, undefined, "", fault, "Write it as UTF-8 text.");
  return { file, items: [], findings: [finding], isReadable: false, isMath: false };
}
