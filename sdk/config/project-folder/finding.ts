import * as z from "zod/mini";
import type { FINDING_CODES } from "./finding-codes.ts";

/** Keys and indexes that lead to a value. */
export type Path = readonly (string | number)[];

export type FindingCode = keyof typeof FINDING_CODES;

/** One thing that is wrong, or doubtful, with a project folder. Positions count from 1; null: the file as a whole. */
export const finding = z.strictObject({
  /** Stable; docs/project-folder.md explains each. */
  code: z.string(),
  severity: z.enum(["error", "warning"]),
  /** Relative to the folder. */
  file: z.string(),
  line: z.nullable(z.number()),
  column: z.nullable(z.number()),
  /** Keys joined by dots, such as `trainer.save_step`; empty where it is about more than one value. */
  path: z.string(),
  /** What is wrong, and why it is. */
  message: z.string(),
  /** How to mend it. */
  hint: z.string(),
});
export type Finding = Omit<z.infer<typeof finding>, "code"> & { code: FindingCode };

export interface Position {
  line: number;
  column: number;
}

/** What a check has to say about one value; the file and the place are filled in by whoever has read it. */
export interface Remark {
  code: FindingCode;
  severity?: "error" | "warning";
  path: Path;
  /** Point at the key instead of the value. */
  atKey?: boolean;
  message: string;
  hint: string;
}

export function pathText(path: Path): string {
  return path.map(String).join(".");
}

export function placed(remark: Remark, file: string, position: Position | undefined): Finding {
  return {
    code: remark.code,
    severity: remark.severity ?? "error",
    file,
    line: position?.line ?? null,
    column: position?.column ?? null,
    path: pathText(remark.path),
    message: remark.message,
    hint: remark.hint,
  };
}

/** In the order one reads them: file by file (config first), line by line. */
export function inReadingOrder(findings: readonly Finding[], files: readonly string[]): Finding[] {
  const rank = (file: string) => (files.includes(file) ? files.indexOf(file) : files.length);
  return findings.toSorted(
    (a, b) =>
      rank(a.file) - rank(b.file) ||
      a.file.localeCompare(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  );
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}
