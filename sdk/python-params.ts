import { SpotterError } from "./schema/errors.ts";
import type { Rewards } from "./rewards-params.ts";
import type { Tools } from "./environment-params.ts";

/** What of a config is TypeScript, and what Python. */
interface SplitParams {
  rewards?: Rewards;
  tools?: Tools;
  python?: PythonParts;
}

export interface PythonParts {
  rewards?: Exclude<Rewards, URL | string>;
  tools?: Exclude<Tools, URL | string>;
}

interface CodeParams {
  rewards?: Rewards;
  tools?: Tools;
  allowPython?: boolean;
}

/** Files that end in `.py` are run by Python, all others are bundled as TypeScript. */
export function splitPython({ rewards, tools }: CodeParams): SplitParams {
  const python: PythonParts = {};
  const split: SplitParams = {};
  if (rewards !== undefined && isPython(rewards)) python.rewards = withFile(rewards);
  else if (rewards !== undefined) split.rewards = rewards;
  if (tools !== undefined && isPython(tools)) python.tools = withFile(tools);
  else if (tools !== undefined) split.tools = tools;
  return python.rewards || python.tools ? { ...split, python } : split;
}

/** @throws SpotterError `python_not_allowed` for code in Python without the grant. */
export function refusePython(params: CodeParams): void {
  const { python } = splitPython(params);
  if (python === undefined || params.allowPython === true) return;
  const file = nameOf((python.rewards ?? python.tools)?.file ?? "");
  throw new SpotterError(
    "python_not_allowed",
    `${file} is Python, which runs beside the trainer with your files and network in reach, and nobody allowed it.`,
    {
      where: python.rewards ? "rewards" : "tools",
      hint: "If you trust the code: allowPython: true in TrainConfig, --allow-python on `spotter run`.",
    },
  );
}

/** The wire form, once the files are packed. */
export function pythonSpec({ rewards, tools }: PythonParts, code: { sha256: string }, secrets: string[]) {
  return {
    code: { ...code, secrets },
    ...(rewards && { rewards: { ...rewards, file: nameOf(rewards.file) } }),
    ...(tools && { tools: { ...tools, file: nameOf(tools.file) } }),
  };
}

/** Its last part: both files lie in one folder. */
function nameOf(file: URL | string): string {
  return String(file).split(/[\\/]/).at(-1) ?? "";
}

function isPython(code: Rewards | Tools): boolean {
  return String(withFile(code).file).endsWith(".py");
}

function withFile<T extends { file: URL | string }>(code: T | URL | string): T {
  return typeof code === "string" || code instanceof URL ? ({ file: code } as T) : code;
}
