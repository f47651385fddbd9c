import { stringify } from "smol-toml";
import { withoutNulls } from "../../config/prime-rl/emit/dry-run.ts";
import { fromHead } from "../../config/prime-rl/emit/from-head.ts";
import { toHead } from "../../config/prime-rl/emit/head.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { findingOf } from "../../config/prime-rl/errors.ts";
import { bytesUnder, readConfigFile } from "../../config/prime-rl/files.ts";
import { merged, type Layer } from "../../config/prime-rl/merge.ts";
import { originIn } from "../../config/prime-rl/provenance.ts";
import { resolve } from "../../config/prime-rl/resolve.ts";
import type { Finding, Report } from "../../config/prime-rl/types.ts";
import { isTable, rootOf } from "../../config/prime-rl/walk.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { Told } from "../told.ts";
import { printFindings } from "./rl-findings.ts";

interface Migrated {
  /** Null where the input is not valid. */
  config: Record<string, unknown> | null;
  text: string;
  findings: Finding[];
}

/**
 * `spotter config migrate ENTRYPOINT FILE… --to head|seed`: from the version whose names are ours to the newer one, or
 * back. What one of them cannot say is a finding.
 */
export async function migrateConfiguration(
  context: CliContext,
  name: EntrypointName,
  args: readonly string[],
  isJson: boolean,
): Promise<void> {
  const { target, words } = targetIn(name, args);
  const { config, text, findings } =
    target === "head" ? await intoHead(name, words) : await outOfHead(name, words);
  if (isJson) printJson(context, { config, findings });
  else {
    printFindings(context, findings);
    if (config) print(context, text.trimEnd());
  }
  if (config === null) throw new Told(2);
}

/** `--to` wherever it stands; a file without its `@` is meant, too. */
function targetIn(
  name: EntrypointName,
  args: readonly string[],
): { target: "head" | "seed"; words: string[] } {
  const at = args.findIndex((word) => word === "--to" || word.startsWith("--to="));
  const isJoined = args[at]?.includes("=") === true;
  const target = at === -1 ? undefined : isJoined ? args[at]?.slice("--to=".length) : args[at + 1];
  if (target !== "head" && target !== "seed") {
    throw new SpotterError("invalid_input", "It has to be said which version to migrate to.", {
      hint: `\`spotter config migrate ${name} ${name}.toml --to head\` for the newer one, \`--to seed\` for the one whose names these are.`,
    });
  }
  const words = args.filter((_, index) => index !== at && (isJoined || index !== at + 1));
  const [first] = words;
  const isFile = first !== undefined && !/^[-@]/.test(first);
  return { target, words: isFile ? ["@", ...words] : words };
}

async function intoHead(name: EntrypointName, words: readonly string[]): Promise<Migrated> {
  const { config, findings, layers } = await resolve(ENTRYPOINTS[name], words);
  if (config === null) return { config, text: "", findings };
  const { dry_run: _, ...rest } = config;
  const { tree, dropped } = toHead(name, rest);
  const placeOf = ({ path }: Report) =>
    layers.map((layer) => originIn(layer.origins, path)).findLast((origin) => origin !== undefined);
  return {
    config: tree,
    text: JSON.stringify(tree, null, 2),
    findings: [...findings, ...dropped.map((report) => findingOf(report, placeOf(report)))],
  };
}

async function outOfHead(name: EntrypointName, words: readonly string[]): Promise<Migrated> {
  const files = words.filter((word) => word !== "@");
  const read = await readAll(files);
  if (!("layer" in read)) return { config: null, text: "", findings: read.findings };
  const { tree, dropped } = fromHead(name, read.layer.value as Record<string, unknown>);
  const reports: Report[] = [...dropped];
  const text = stringify(withoutNulls(tree, rootOf(ENTRYPOINTS[name].schema), [], reports));
  const findings = reports.map((report) => findingOf(report, originIn(read.layer.origins, report.path)));
  // What is left has to be a configuration of ours.
  const checked = await resolve(ENTRYPOINTS[name], ["@", "migrated.toml"], {
    readBytes: () => Buffer.from(text),
  });
  const all = [...findings, ...checked.findings.map(withoutPlace)];
  return { config: checked.config && tree, text, findings: all };
}

async function readAll(files: readonly string[]): Promise<{ layer: Layer } | { findings: Finding[] }> {
  if (files.length === 0 || files.some((word) => word.startsWith("-")))
    throw new SpotterError(
      "invalid_input",
      "There have to be files of the newer version to migrate, and nothing else.",
      {
        hint: "`spotter config migrate rl rl.json --to seed`",
      },
    );
  let layer: Layer = { value: {}, origins: {} };
  const findings: Finding[] = [];
  for (const file of files) {
    const read = await readConfigFile(file, bytesUnder(process.cwd()));
    if ("finding" in read) findings.push(read.finding);
    else if (isTable(read.tree.value)) layer = merged(layer, read.tree);
  }
  return findings.length > 0 ? { findings } : { layer };
}

/** The place would be one in a file that nobody has. */
function withoutPlace(finding: Finding): Finding {
  return { ...finding, file: null, line: null, column: null };
}
