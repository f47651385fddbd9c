import { existsSync, statSync } from "node:fs";
import { Collector } from "./collector.ts";
import { type Finding, type FindingCode, type Path, pathText, type Remark } from "./finding.ts";
import { type LineSink, MAX_LINE_BYTES, scanLines } from "./line-scan.ts";
import { plainRows } from "./plain-rows.ts";
import { rowChecks } from "./row-checks.ts";
import type { RowContext } from "./row-context.ts";
import { inexactNumber, rowJson } from "./row-json.ts";
import { answersOf, callsTools, isLearnt } from "./answers.ts";
import { faultOf, kindFault } from "./read-text.ts";
import { isTooDeep, MAX_ROW_DEPTH } from "./row-depth.ts";
import { RowPositions } from "./row-positions.ts";

export interface CheckedRows {
  /** Lines that are JSON. */
  rows: number;
  bytes: number;
  /** Whether any row brings images, or names a container: what an engine must be able to do. */
  hasImages: boolean;
  hasDocker: boolean;
  /** Of dataset_type sft: the assistant's messages, each of which is learnt. */
  answers: number;
  /** Of dataset_type sft: whether any of them calls tools. */
  hasCalls: boolean;
  /** The first line with an answer that cannot be learnt. */
  otherAnswers: number | undefined;
  findings: Finding[];
}

export interface CheckRowsParams {
  /** Where the file is, and what findings call it. */
  path: string;
  file: string;
  context: RowContext;
  /** Every row is checked by itself, also where it is plainly fine: it takes longer and finds the same. Default false. */
  isEachChecked?: boolean;
  signal?: AbortSignal | undefined;
}

/** Checks every row of train.jsonl, in bounded memory: places are sought only in rows with findings. */
export async function checkRows(params: CheckRowsParams): Promise<CheckedRows> {
  const { path, file, context } = params;
  const none = {
    rows: 0,
    bytes: 0,
    hasImages: false,
    hasDocker: false,
    answers: 0,
    hasCalls: false,
    otherAnswers: undefined,
  };
  if (!existsSync(path)) {
    const hint = "Create it with a row a line, or name another file in data.train_file.";
    return { ...none, findings: [aboutFile(file, "rows_missing", "there is no such file", hint)] };
  }
  const fault = kindFault(statSync(path));
  if (fault !== undefined) {
    const hint = "Name a .jsonl file in data.train_file.";
    return { ...none, findings: [aboutFile(file, "rows_missing", fault, hint)] };
  }
  const checker = new RowChecker(file, context);
  const plain = params.isEachChecked ? undefined : plainRows(context);
  let bytes: number;
  try {
    bytes = await scanLines(path, checker, { pass: plain, signal: params.signal });
  } catch (error) {
    params.signal?.throwIfAborted();
    return {
      ...none,
      findings: [aboutFile(file, "rows_missing", faultOf(error), "Check its rights and its disk.")],
    };
  }
  const { hasImages, hasDocker, hasCalls, otherAnswers } = checker;
  const rows = checker.rows + (plain?.rows ?? 0);
  const answers = checker.answers + (plain?.answers ?? 0);
  const findings = checker.collector.findings();
  if (rows === 0 && findings.every(({ severity }) => severity !== "error"))
    findings.push(aboutFile(file, "rows_missing", "has no rows", 'Write {"messages": [...]}, a row a line.'));
  return { rows, bytes, hasImages, hasDocker, answers, hasCalls, otherAnswers, findings };
}

class RowChecker implements LineSink {
  readonly collector = new Collector();
  rows = 0;
  hasImages = false;
  hasDocker = false;
  answers = 0;
  hasCalls = false;
  otherAnswers: number | undefined;
  readonly #file: string;
  readonly #context: RowContext;
  readonly #remarks: Remark[] = [];
  readonly #report = (remark: Remark): void => void this.#remarks.push(remark);

  constructor(file: string, context: RowContext) {
    this.#file = file;
    this.#context = context;
  }

  line(text: string, number: number): void {
    const json = rowJson(text);
    if ("error" in json) {
      const what = json.error === "" ? "is not JSON" : `is not JSON: ${json.error}`;
      const hint = "Write one JSON object a line, without a comma after it.";
      return this.#add({ code: "row_syntax", path: [], message: what, hint }, number, json.column);
    }
    this.rows++;
    if (isTooDeep(json.value, text.length)) return this.#tooDeep(number);
    const row = json.value as Record<string, unknown> | null;
    if (row?.docker) this.hasDocker = true;
    this.hasImages ||= holdsImage(row?.messages);
    if (this.#context.kind === "sft") this.#countAnswers(row?.messages, number);
    this.#remarks.length = 0;
    rowChecks(json.value, this.#context, this.#report);
    if (json.notFinite) this.#notFinite(text);
    if (this.#context.hasTypeScript) this.#inexact(text, number);
    if (this.#remarks.length > 0) this.#place(text, number);
  }

  #tooDeep(number: number): void {
    const message = `has more than ${MAX_ROW_DEPTH} lists or objects within each other`;
    const hint = "Flatten it, or keep what is nested as a text that rewards read.";
    this.#add({ code: "row_syntax", path: [], message, hint }, number, 1);
  }

  #countAnswers(messages: unknown, number: number): void {
    const answers = answersOf(messages);
    this.answers += answers.length;
    this.hasCalls ||= answers.some(callsTools);
    if (!answers.every(isLearnt)) this.otherAnswers ??= number;
  }

  fault(kind: "byte_order_mark" | "not_utf8" | "too_long", number: number): void {
    const remark: Record<typeof kind, Omit<Remark, "path">> = {
      byte_order_mark: {
        code: "byte_order_mark",
        severity: "warning",
        message: "the file begins with a byte order mark, which is skipped here",
        hint: "Save it as UTF-8 without one: other readers refuse it.",
      },
      not_utf8: { code: "row_syntax", message: "the line is not UTF-8", hint: "Save the file as UTF-8." },
      too_long: {
        code: "row_syntax",
        message: `the line has more than ${MAX_LINE_BYTES / 1024 / 1024} MiB`,
        hint: "Write one row a line.",
      },
    };
    this.#add({ ...remark[kind], path: [] }, number, 1);
  }

  /** Rows of which nothing is kept any more cost no second look. */
  #place(text: string, number: number): void {
    let positions: RowPositions | undefined;
    for (const remark of this.#remarks) {
      const severity = remark.severity ?? "error";
      if (!this.collector.isOpen(remark.code, severity)) {
        this.collector.count(remark.code, severity);
        continue;
      }
      positions ??= new RowPositions(text, number);
      this.#add(remark, number, positions.at(remark.path, remark.atKey).column);
    }
  }

  #add(remark: Remark, line: number, column: number): void {
    const { code, severity = "error", message, hint } = remark;
    const path = pathText(remark.path);
    this.collector.add({ code, severity, file: this.#file, line, column, path, message, hint });
  }

  #notFinite(text: string): void {
    const word = /-?\b(?:NaN|Infinity)\b/.exec(text)?.[0] ?? "NaN";
    this.#remarks.push({
      code: "row_not_finite",
      severity: "warning",
      path: [],
      message: `${word} is Python's word and not JSON; it is read as null`,
      hint: "Write null, or a number.",
    });
  }

  #inexact(text: string, number: number): void {
    const found = inexactNumber(text);
    if (!found) return;
    const { digits, column } = found;
    const remark = {
      code: "number_inexact" as const,
      severity: "warning" as const,
      path: [] as Path,
      message: `${digits} is above 2^53: rewards.ts sees ${Number(digits)}; rewards.py sees it exactly`,
      hint: "Put it in quotes.",
    };
    if (this.collector.isOpen(remark.code, remark.severity)) this.#add(remark, number, column);
    else this.collector.count(remark.code, remark.severity);
  }
}

function holdsImage(messages: unknown): boolean {
  if (!Array.isArray(messages)) return false;
  for (const message of messages as ({ content?: unknown } | null)[]) {
    const content = message?.content;
    if (!Array.isArray(content)) continue;
    const parts = content as ({ type?: unknown } | null)[];
    if (parts.some((part) => part?.type === "image" || part?.type === "image_url")) return true;
  }
  return false;
}

function aboutFile(file: string, code: FindingCode, message: string, hint: string): Finding {
  return { code, severity: "error", file, line: null, column: null, path: "", message, hint };
}
