import { SpotterError } from "../../schema/errors.ts";
import { bundleUserCode } from "../../user-code/bundle.ts";
import { type CodeFile, type CodeItem, codeFinding, unreadable } from "./code-facts.ts";
import { readText } from "./read-text.ts";

/** Reads rewards.ts or tools.ts: bundles it as a launch would, and looks which exports are what. */
export async function typescriptCode(path: string, file: string): Promise<CodeFile> {
  const read = readText(path);
  if ("fault" in read) return unreadable(file, read.fault);
  const source = read.text;
  const isMath = /\bmathEqual\b/.test(source);
  try {
    const { exportNames, warnings } = await bundleUserCode(path);
    const items = exportNames.flatMap((name) => itemOf(name, source, file) ?? []);
    const findings = warnings.map((warning) => {
      const [, line = "1", column = "1", what = warning] = /:(\d+):(\d+): (.*)$/.exec(warning) ?? [];
      const position = { line: Number(line), column: Number(column) };
      return codeFinding("code_refused", file, position, "", what, "Write it without.", "warning");
    });
    return { file, items, findings, isReadable: true, isMath };
  } catch (error) {
    if (!SpotterError.is(error)) throw error;
    return { file, items: [], findings: bundleFindings(error, file), isReadable: false, isMath };
  }
}

/** What is certainly neither: a function, a class, a value written out. What was made by a call may be one. */
const PLAIN =
  /^[^=]*=\s*(?:async\b\s*)?(?:\(|\w+\s*=>|["'`[{\d]|new\b|true\b|false\b|null\b|function\b|class\b)/;

/** An export is what its declaration says; what comes from elsewhere is taken at its word. */
function itemOf(name: string, source: string, file: string): CodeItem | undefined {
  const declared = new RegExp(
    `export\\s+(const|let|var|function\\*?|async\\s+function\\*?|class)\\s+(${name.replaceAll("$", "\\$")})(?![\\w$])([^\\n]*)`,
  ).exec(source);
  const [, keyword = "const", , rest = ""] = declared ?? [];
  if (declared && (!["const", "let", "var"].includes(keyword) || PLAIN.test(rest))) return undefined;
  const position = declared ? placeOf(source, declared.index + declared[0].indexOf(name)) : undefined;
  return { name, file, position, sandbox: false, precondition: false, timeoutS: undefined };
}

function placeOf(source: string, index: number): { line: number; column: number } {
  const before = source.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function bundleFindings(error: SpotterError, file: string): CodeFile["findings"] {
  const lines = error.message.split("\n").slice(1);
  const found = lines.flatMap((line) => {
    const [, , at, column, what = ""] = /^\s*(.+?):(\d+):(\d+): (.*)$/.exec(line) ?? [];
    if (at === undefined) return [];
    const position = { line: Number(at), column: Number(column) };
    return [codeFinding("code_syntax", file, position, "", what, error.hint ?? "Correct the line.")];
  });
  const whole = codeFinding(
    "code_syntax",
    file,
    undefined,
    "",
    error.message,
    error.hint ?? "Correct the file.",
  );
  return found.length > 0 ? found : [whole];
}
