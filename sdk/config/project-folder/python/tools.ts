import { type CodeFile, codeFinding } from "../code-facts.ts";
import type { Finding } from "../finding.ts";
import {
  annotationName,
  at,
  type Decorated,
  decoratedWith,
  importFinding,
  optionsOf,
  twiceFindings,
} from "./decorated.ts";
import { returnsOf } from "./flow.ts";
import { type PythonFile, readPython } from "./functions.ts";
import type { Token } from "./tokens.ts";

const OPTIONS = ["sandbox", "timeout"];
/** Of these no JSON can be made. */
const NO_JSON = /\b(?:bytes|bytearray|set|frozenset|complex|memoryview|Callable|Iterator|Generator)\b/;

/** Reads tools.py without running it: what it defines, and what a model could not call. */
export function pythonTools(source: string, path: string): CodeFile {
  const file = readPython(source);
  if (file.fault) {
    const { message, ...position } = file.fault;
    const finding = codeFinding(
      "code_syntax",
      path,
      position,
      "",
      message,
      "Correct the line; Python reads it no other way.",
    );
    return { file: path, items: [], findings: [finding], isReadable: false, isMath: false };
  }
  const found = decoratedWith(file, "tool");
  const options = found.map((each) => optionsOf(file, path, each, OPTIONS));
  const findings = [
    ...importFinding(file, path, "tool", found),
    ...twiceFindings(path, found),
    ...options.flatMap((each) => each.findings),
    ...found.flatMap((each) => signature(file, path, each)),
  ];
  return { file: path, items: options.map(({ item }) => item), findings, isReadable: true, isMath: false };
}

function signature(file: PythonFile, path: string, { fn }: Decorated): Finding[] {
  const wrong = (token: Token, message: string, hint: string, severity: "error" | "warning" = "error") =>
    codeFinding("tool_signature", path, at(token), fn.name, message, hint, severity);
  const findings: Finding[] = [];
  if (!fn.docstring?.trim())
    findings.push(
      wrong(fn.token, "has no docstring: the model chooses tools by it", 'Begin it with """What it does."""'),
    );
  for (const { name, stars, annotation, token } of fn.parameters) {
    const type = annotation && annotationName(file, annotation);
    if (stars)
      findings.push(wrong(token, `${stars}${name} cannot be described to a model`, "Name each parameter."));
    else if (type === "ToolArgs" && name !== "args")
      findings.push(
        wrong(token, `${name} is ToolArgs, which is only given to a parameter named args`, "Name it args."),
      );
    else if (name === "args") continue;
    else if (!type)
      findings.push(wrong(token, `${name} has no type`, `Write ${name}: str, or another type.`));
    else if (NO_JSON.test(type))
      findings.push(
        wrong(
          token,
          `${name} is ${type}, which no model can write`,
          "Take str, int, float, bool, list or dict.",
        ),
      );
  }
  return [...findings, ...returnFindings(file, fn, wrong)];
}

function returnFindings(
  file: PythonFile,
  fn: Decorated["fn"],
  wrong: (token: Token, message: string, hint: string, severity?: "error" | "warning") => Finding,
): Finding[] {
  if (fn.returns === undefined)
    return [wrong(fn.token, "does not say what it returns", "Write -> str, -> dict, or another type.")];
  const type = annotationName(file, fn.returns);
  if (NO_JSON.test(type))
    return [
      wrong(fn.token, `returns ${type}, of which no JSON can be made`, "Return str, dict, list or a number."),
    ];
  const opening = /^[Dd]ict\b/.test(type) ? "[" : /^[Ll]ist\b/.test(type) ? "{" : undefined;
  const other = returnsOf(fn.body).find((tokens) => tokens[1]?.text === opening);
  if (!other?.[1] || opening === undefined) return [];
  const is = opening === "[" ? "a list" : "a dict";
  return [wrong(other[1], `returns ${is} and says ${type}`, "Say what it returns.", "warning")];
}
