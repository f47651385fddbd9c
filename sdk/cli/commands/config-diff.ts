import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { resolve, type Resolution } from "../../config/prime-rl/resolve.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { table } from "../render/table.ts";
import { Told } from "../told.ts";
import { printFindings } from "./rl-findings.ts";
import { valueOf, valueText } from "./rl-settings.ts";

export interface Difference {
  path: string;
  /** Undefined where this side has no such setting, as with another variant. */
  left: unknown;
  right: unknown;
  /** Null where this side has no such setting. */
  leftFrom: string | null;
  rightFrom: string | null;
}

/** `spotter config diff ENTRYPOINT LEFT RIGHT`, or with words of a command line on both sides of a `--`. */
export async function diffConfigurations(
  context: CliContext,
  name: EntrypointName,
  args: readonly string[],
  isJson: boolean,
): Promise<void> {
  const [leftWords, rightWords] = sidesOf(name, args);
  const left = await resolve(ENTRYPOINTS[name], leftWords);
  const right = await resolve(ENTRYPOINTS[name], rightWords);
  const differences = left.config && right.config ? differencesOf(left, right) : [];
  const findings = [...left.findings, ...right.findings];
  if (isJson) printJson(context, { differences, findings });
  else {
    printFindings(context, findings);
    if (left.config && right.config) printDifferences(context, differences);
  }
  if (!left.config || !right.config) throw new Told(2);
}

/** The settings that differ, in the order of the left side, then those that only the right one has. */
export function differencesOf(left: Resolution, right: Resolution): Difference[] {
  const paths = new Set([...Object.keys(left.provenance), ...Object.keys(right.provenance)]);
  return [...paths].flatMap((path) => {
    const sides = { left: valueOf(left.config, path), right: valueOf(right.config, path) };
    if (JSON.stringify(sides.left) === JSON.stringify(sides.right)) return [];
    const leftFrom = left.provenance[path] ?? null;
    const rightFrom = right.provenance[path] ?? null;
    return [{ path, ...sides, leftFrom, rightFrom }];
  });
}

function sidesOf(name: EntrypointName, args: readonly string[]): [string[], string[]] {
  const middle = args.indexOf("--");
  if (middle !== -1) return [args.slice(0, middle), args.slice(middle + 1)];
  const [left, right, ...more] = args;
  if (
    left === undefined ||
    right === undefined ||
    more.length > 0 ||
    args.some((word) => /^[-@]/.test(word))
  ) {
    throw new SpotterError("invalid_input", "There have to be two configurations to compare.", {
      hint: `\`spotter config diff ${name} one.toml two.toml\`, or \`spotter config diff ${name} @ one.toml -- @ one.toml --max-steps 5\`.`,
    });
  }
  return [
    ["@", fileIn(name, left)],
    ["@", fileIn(name, right)],
  ];
}

/** A file as it is; of a folder, the file that a dry run left in it. */
function fileIn(name: EntrypointName, path: string): string {
  if (!existsSync(path) || !statSync(path).isDirectory()) return path;
  const left = join(path, "configs", `${name}.toml`);
  return existsSync(left) ? left : join(path, `${name}.toml`);
}

function printDifferences(context: CliContext, differences: readonly Difference[]): void {
  const { dim } = context.colors;
  const cell = (value: unknown, from: string | null) =>
    from === null ? dim("not there") : `${valueText(value)} ${dim(`(${from})`)}`;
  const rows = differences.map(({ path, left, right, leftFrom, rightFrom }) => [
    path,
    cell(left, leftFrom),
    cell(right, rightFrom),
  ]);
  if (rows.length > 0) for (const line of table(["SETTING", "LEFT", "RIGHT"], rows)) print(context, line);
  const count = differences.length;
  print(
    context,
    count === 0 ? "They are the same." : `${count} setting${count === 1 ? " differs" : "s differ"}.`,
  );
}
