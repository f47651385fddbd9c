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
import { allStatements, alwaysEnds, contains, returnsOf } from "./flow.ts";
import { type PythonFile, readPython } from "./functions.ts";
import type { Token } from "./tokens.ts";

const OPTIONS = ["precondition", "sandbox", "timeout"];
const SIGNATURE = "def name(args: RewardArgs, messages: list) -> float";

/** Reads rewards.py without running it: what it defines, and what would fail once it is run. */
export function pythonRewards(source: string, path: string): CodeFile {
  const file = readPython(source);
  const isMath = [...file.modules].some((name) => name.split(".")[0] === "math_verify");
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
    return { file: path, items: [], findings: [finding], isReadable: false, isMath };
  }
  const found = decoratedWith(file, "reward");
  const options = found.map((each) => optionsOf(file, path, each, OPTIONS));
  const findings = [
    ...importFinding(file, path, "reward", found),
    ...twiceFindings(path, found),
    ...options.flatMap((each) => each.findings),
    ...found.flatMap((each) => [...signature(file, path, each), ...body(path, each)]),
  ];
  const items = options.map(({ item }, index) => ({ ...item, needs: needsOf(found[index]) }));
  return { file: path, items, findings, isReadable: true, isMath };
}

/** Keys that `args.metadata["key"]` reads: without them it raises. */
function needsOf(found: Decorated | undefined): string[] {
  const args = found?.fn.parameters[0]?.name;
  const keys = allStatements(found?.fn.body ?? []).flatMap(({ tokens }) =>
    tokens.flatMap(({ text }, at) => {
      const [dot, metadata, open, key, close] = tokens.slice(at + 1, at + 6);
      const isRead =
        text === args && dot?.text === "." && metadata?.text === "metadata" && open?.text === "[";
      const isWritten = tokens[at + 6]?.text === "=";
      if (!isRead || isWritten || close?.text !== "]" || key?.kind !== "text") return [];
      return /^['"][^'"\\]*['"]$/.test(key.text) ? [key.text.slice(1, -1)] : [];
    }),
  );
  return [...new Set(keys)];
}

function signature(file: PythonFile, path: string, { fn }: Decorated): Finding[] {
  const { parameters } = fn;
  const wrong = (token: Token, message: string, hint = `Write ${SIGNATURE}.`) =>
    codeFinding("reward_signature", path, at(token), fn.name, message, hint);
  const findings: Finding[] = [];
  if (parameters.length !== 2 || parameters.some(({ stars }) => stars)) {
    findings.push(
      wrong(fn.token, `takes ${counted(parameters.length)}; a reward is given args and messages`),
    );
    return [...findings, ...returnType(file, path, { fn, wrong })];
  }
  const [first, second] = parameters;
  const types = parameters.map(({ annotation }) => annotation && annotationName(file, annotation));
  if (types[1] === "RewardArgs" && isList(types[0]))
    findings.push(wrong(first?.token ?? fn.token, "has its parameters the other way round"));
  else {
    if (first && types[0] !== "RewardArgs")
      findings.push(
        wrong(
          first.token,
          types[0] ? `${first.name} is ${types[0]}, expected RewardArgs` : `${first.name} has no type`,
        ),
      );
    if (second && !isList(types[1])) {
      const isOld = second.name === "sample";
      const message = types[1]
        ? `${second.name} is ${types[1]}, expected list`
        : `${second.name} has no type`;
      const hint = isOld
        ? "Older rewards took (args, sample): read args.metadata and the list of messages now."
        : undefined;
      findings.push(wrong(second.token, message, hint));
    }
  }
  return [...findings, ...returnType(file, path, { fn, wrong })];
}

function returnType(
  file: PythonFile,
  _path: string,
  { fn, wrong }: { fn: Decorated["fn"]; wrong: (token: Token, message: string) => Finding },
): Finding[] {
  if (fn.returns === undefined) return [wrong(fn.token, "does not say that it returns a float")];
  const name = annotationName(file, fn.returns);
  return name === "float" ? [] : [wrong(fn.token, `returns ${name}, expected float`)];
}

function body(path: string, { fn }: Decorated): Finding[] {
  const findings: Finding[] = [];
  const say = (token: Token, message: string, hint: string, severity: "error" | "warning" = "error") =>
    findings.push(codeFinding("reward_body", path, at(token), fn.name, message, hint, severity));
  const returns = returnsOf(fn.body);
  if (!alwaysEnds(fn.body)) {
    const isStub = returns.length === 0;
    const message = isStub
      ? "returns nothing: None is no verdict"
      : "may end without a return: None is no verdict";
    say(
      fn.token,
      message,
      isStub ? "Return a number from 0 to 1." : "End with a return, for example return 0.0.",
    );
  }
  for (const tokens of returns) {
    const value = tokens.slice(1);
    const at = value[0] ?? tokens[0] ?? fn.token;
    if (value.length === 0 || (value.length === 1 && at.text === "None"))
      say(
        at,
        "returns None: no verdict, so the rollout is left out",
        "Return 0.0 where the answer is bad.",
        "warning",
      );
    for (const { literal, token } of branchesOf(value)) {
      if (literal === undefined || (literal >= 0 && literal <= 1)) continue;
      say(token, `returns ${literal}, outside of 0 to 1`, "Scale it to lie between 0 and 1.");
    }
    if (value.length === 1 && at.kind === "text") say(at, "returns a text", "Return a number from 0 to 1.");
  }
  if (contains(fn.body, isLooseJudge)) {
    const hint = fn.isAsync ? "Write await llm_judge(...)." : "Write async def, and await llm_judge(...).";
    say(fn.token, "calls llm_judge without await: what it returns is no number", hint);
  }
  if (
    !fn.isAsync &&
    contains(fn.body, (tokens) => tokens.some(({ text, kind }) => kind === "name" && text === "await"))
  )
    say(fn.token, "awaits, and is no async function", "Write async def.");
  return findings;
}

/** What a return may give: every value of a ternary, not its conditions. */
function branchesOf(value: readonly Token[]): { literal: number | undefined; token: Token }[] {
  const branches: Token[][] = [[]];
  let depth = 0;
  let isCondition = false;
  for (const token of value) {
    if (token.kind === "operator" && "([{".includes(token.text)) depth++;
    if (token.kind === "operator" && ")]}".includes(token.text)) depth--;
    if (depth === 0 && token.text === "if") isCondition = true;
    else if (depth === 0 && token.text === "else") {
      isCondition = false;
      branches.push([]);
    } else if (!isCondition) branches.at(-1)?.push(token);
  }
  return branches.flatMap((branch) => (branch[0] ? [{ literal: literalOf(branch), token: branch[0] }] : []));
}

function literalOf(tokens: readonly Token[]): number | undefined {
  const isSigned = tokens[0]?.text === "-" || tokens[0]?.text === "+";
  const [number, ...rest] = isSigned ? tokens.slice(1) : tokens;
  if (number?.kind !== "number" || rest.length > 0) return undefined;
  const value = Number(number.text.replaceAll("_", ""));
  return Number.isNaN(value) ? undefined : value * (tokens[0]?.text === "-" ? -1 : 1);
}

function isLooseJudge(tokens: readonly Token[]): boolean {
  return tokens.some(({ text, kind }, index) => {
    if (kind !== "name" || text !== "llm_judge" || tokens[index + 1]?.text !== "(") return false;
    const before = tokens[index - 1]?.text;
    return before === "return" || before === "=" || (before === "(" && tokens[index - 2]?.text === "float");
  });
}

function isList(type: string | undefined): boolean {
  return type !== undefined && /^(?:typing\.)?[Ll]ist(?:\[.*\])?$/.test(type);
}

function counted(count: number): string {
  return count === 1 ? "1 parameter" : `${count} parameters`;
}
