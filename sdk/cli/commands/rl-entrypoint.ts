import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { resolve, type Resolution } from "../../config/prime-rl/resolve.ts";
import { rootOf } from "../../config/prime-rl/walk.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { printable } from "../render/visible.ts";
import { Told } from "../told.ts";
import { printFindings, printVerdict } from "./rl-findings.ts";
import { printSettings } from "./rl-settings.ts";

/** `--plain` and `--no-wide` change how upstream prints; ours is plain. */
const OWN_FLAGS = new Set(["--json", "--plain", "--no-wide", "--force"]);

/** Runs `spotter rl …` and its siblings. Resolves when all is printed; what is wrong ends with exit code 2. */
export async function runEntrypoint(
  context: CliContext,
  name: EntrypointName,
  args: readonly string[],
): Promise<void> {
  const isJson = args.includes("--json");
  const force = args.includes("--force");
  const { wandbSecret, others } = grantedKey(args);
  const words = others.filter((word) => !OWN_FLAGS.has(word));
  if (words.some((word) => word === "--help" || word === "-h"))
    return printHelp(context, name, words, isJson);
  const { rest, isDryRun: isAsked } = ownDryRun(name, words);
  const resolution = await resolve(ENTRYPOINTS[name], rest);
  const isDryRun = isAsked || resolution.config?.dry_run === true;
  const { config } = resolution;
  if (config === null) return refuse(context, resolution, isJson);
  if (isDryRun) return dryRun(context, name, { ...resolution, config }, isJson);
  const { launchEntrypoint } = await import("./rl-launch.ts");
  await launchEntrypoint(context, name, { ...resolution, config }, { isJson, wandbSecret, force });
}

/** `--wandb-secret NAME`, apart from the words that the schema reads. */
function grantedKey(args: readonly string[]): { wandbSecret: string | undefined; others: string[] } {
  const others = [...args];
  const at = others.findIndex((word) => /^--wandb-secret(=|$)/.test(word));
  if (at < 0) return { wandbSecret: undefined, others };
  const [, given] = (others[at] ?? "").split("=");
  const said = given ?? others[at + 1];
  others.splice(at, given === undefined ? 2 : 1);
  if (said !== undefined && said !== "" && !said.startsWith("-")) return { wandbSecret: said, others };
  throw new SpotterError("invalid_input", "--wandb-secret needs the name of a stored secret.", {
    where: "--wandb-secret",
    hint: "Store the key with `spotter secret set WANDB_API_KEY`, and name it: --wandb-secret WANDB_API_KEY",
  });
}

/** Where the schema has no such setting, the dry run is the command's own. */
function ownDryRun(name: EntrypointName, words: readonly string[]): { rest: string[]; isDryRun: boolean } {
  if (rootOf(ENTRYPOINTS[name].schema).fields.has("dry_run")) return { rest: [...words], isDryRun: false };
  const isOwn = (word: string) => word === "--dry-run" || word === "--dry_run";
  return { rest: words.filter((word) => !isOwn(word)), isDryRun: words.some(isOwn) };
}

async function refuse(context: CliContext, { config, findings }: Resolution, isJson: boolean): Promise<void> {
  if (isJson) printJson(context, { config, provenance: {}, findings });
  else {
    printFindings(context, findings);
    printVerdict(context, findings);
  }
  throw new Told(2);
}

async function dryRun(
  context: CliContext,
  name: EntrypointName,
  { config, provenance, findings }: Resolution & { config: Record<string, unknown> },
  isJson: boolean,
): Promise<void> {
  const { writeDryRun } = await import("./rl-files.ts");
  const written = writeDryRun(name, config, process.cwd());
  const all = [...findings, ...written.findings];
  const isBad = all.some(({ severity }) => severity === "error");
  if (isJson) printJson(context, { config, provenance, findings: all });
  else {
    printSettings(context, config, provenance);
    printFindings(context, all);
    for (const file of written.files) print(context, `${context.colors.green("Wrote")} ${printable(file)}`);
    printVerdict(context, all);
  }
  if (isBad) throw new Told(2);
}

async function printHelp(
  context: CliContext,
  name: EntrypointName,
  words: readonly string[],
  isJson: boolean,
): Promise<void> {
  if (isJson) {
    const { jsonSchemaOf } = await import("../../config/prime-rl/json-schema.ts");
    return printJson(context, jsonSchemaOf(name));
  }
  const at = words.findIndex((word) => word === "--help" || word === "-h");
  const about = words.slice(at + 1).find((word) => /^(--)?[a-z][\w.-]*$/i.test(word));
  const { entrypointHelp } = await import("./rl-help.ts");
  const { columns } = context.out as { columns?: number };
  for (const line of entrypointHelp(name, about, context.colors, columns)) print(context, line);
}
