/**
 * From the words of a command line to a whole configuration: files and flags in layers, one tree, rules, schema,
 * and everything that is wrong at once.
 *
 * @module
 */
import type * as z from "zod";
import { parseArguments, type FlagArgument, type ParsedArguments } from "./argv.ts";
import { withCanonicalNames } from "./aliases.ts";
import { coerced } from "./coerce.ts";
import { DraftTree } from "./draft.ts";
import { findingOf, placeOf, refusals } from "./errors.ts";
import { bytesUnder, readConfigFile, type ReadBytes } from "./files.ts";
import { ListPatch } from "./lists.ts";
import { merged, type Layer, type MergeReport } from "./merge.ts";
import { allFrom, graft, provenanceOf, type Origins } from "./provenance.ts";
import type { Entrypoint, Finding, Origin, Path, Report } from "./types.ts";
import { isTable, rootOf, type SectionShape } from "./walk.ts";

export interface ResolveParams {
  /** What paths of files are relative to. Default: the current folder. */
  cwd?: string;
  /** Default: reads the disk. */
  readBytes?: ReadBytes;
}

/** A layer with the name that people know it by: its file, or `flags`. */
export interface NamedLayer extends Layer {
  name: string;
}

export interface Resolution {
  /** The whole tree, in the names of the schema, nulls kept; null where something is wrong. */
  config: Record<string, unknown> | null;
  /** Where each value comes from, by dotted path: `{ "trainer.optim.lr": "--trainer.optim.lr", … }`. */
  provenance: Record<string, string>;
  /** Errors and warnings, in the order of files and lines. */
  findings: Finding[];
  /** What each source said, lowest first, under canonical names. */
  layers: NamedLayer[];
}

/**
 * Resolves a command line. What the user got wrong is in `findings`, never thrown.
 *
 * @example
 * const { config, findings } = await resolve(rl, ["@", "rl.toml", "--trainer.optim.lr", "1e-5"]);
 */
export async function resolve(
  entrypoint: Entrypoint,
  words: readonly string[],
  params: ResolveParams = {},
): Promise<Resolution> {
  const root = rootOf(entrypoint.schema);
  const found = new Findings();
  const parsed = parseArguments(words, root);
  for (const report of parsed.reports) found.add(report, undefined);
  const files = await readAll(parsed, params.readBytes ?? bytesUnder(params.cwd ?? process.cwd()), found);
  const layers = [...files, flagLayer(parsed.flags)].map((layer) => ({
    name: layer.name,
    ...withCanonicalNames(layer, root, (report) => found.addIn(report, layer.origins)),
  }));
  // What could not be read may have said what is missing.
  const isWhole = found.errors === 0;
  return resolveLayers(entrypoint, layers, root, found, isWhole);
}

async function readAll(
  { files }: ParsedArguments,
  readBytes: ReadBytes,
  found: Findings,
): Promise<NamedLayer[]> {
  const layers: NamedLayer[] = [];
  for (const { file, path } of files) {
    const read = await readConfigFile(file, readBytes);
    if ("finding" in read) found.push(read.finding);
    else if (path.length === 0 && !isTable(read.tree.value)) found.push(noTable(file));
    else layers.push({ name: file, ...nested(read.tree, path, { kind: "file", file }) });
  }
  return layers;
}

function noTable(file: string): Finding {
  const report: Report = { path: [], message: `${file} holds no table.`, hint: "Its settings need names." };
  return findingOf(report, { kind: "file", file });
}

/** A tree at the place of a larger one. */
function nested({ value, origins }: Layer, path: Path, origin: Origin): Layer {
  const around: Origins = {};
  graft(around, path, { origin, ...origins });
  return { value: wrapped(value, path), origins: around };
}

function wrapped(value: unknown, path: Path): unknown {
  return path.reduceRight<unknown>(
    (inner, step) => (typeof step === "number" ? new ListPatch([[step, inner]]) : { [step]: inner }),
    value,
  );
}

/** All flags as one layer: they are one source, later ones on top. */
function flagLayer(flags: readonly FlagArgument[]): NamedLayer {
  let layer: Layer = { value: {}, origins: {} };
  for (const { flag, path, value } of flags) {
    const origins: Origins = {};
    graft(origins, path, allFrom(value, { kind: "flag", flag }));
    layer = merged(layer, { value: wrapped(value, path), origins }, { isPartial: true });
  }
  return { name: "flags", ...layer };
}

function resolveLayers(
  entrypoint: Entrypoint,
  layers: NamedLayer[],
  root: SectionShape,
  found: Findings,
  isWhole: boolean,
): Resolution {
  let tree: Layer = { value: {}, origins: {} };
  for (const layer of layers) {
    const report = (said: MergeReport) => found.add(said, said.origin ?? placeOf(said, layer.origins));
    tree = merged(tree, layer, { shape: root, report });
  }
  tree = { ...tree, value: coerced(tree.value, root) };
  tree = prepared(entrypoint, tree, found);
  const valid = validated(entrypoint.schema, { ...tree, value: coerced(tree.value, root) }, found, isWhole);
  const done = valid && finished(entrypoint, valid, root, found);
  const isGood = done !== undefined && found.errors === 0;
  return {
    config: isGood ? (done.value as Record<string, unknown>) : null,
    provenance: isGood ? provenanceOf(done.value, done.origins) : {},
    findings: found.sorted(),
    layers,
  };
}

function prepared(entrypoint: Entrypoint, tree: Layer, found: Findings): Layer {
  if (!entrypoint.before) return tree;
  const draft = new DraftTree(tree, (report, origins) => found.addIn(report, origins));
  entrypoint.before(draft);
  return draft.layer;
}

/** The rules over the whole tree. What they changed has to be valid again. */
function finished(
  entrypoint: Entrypoint,
  tree: Layer,
  root: SectionShape,
  found: Findings,
): Layer | undefined {
  if (!entrypoint.after) return tree;
  const draft = new DraftTree(tree, (report, origins) => found.addIn(report, origins));
  entrypoint.after(draft.layer.value as Record<string, unknown>, draft);
  if (!draft.isChanged) return tree;
  const { value, origins } = draft.layer;
  return validated(entrypoint.schema, { value: coerced(value, root), origins }, found, true);
}

function validated(
  schema: z.ZodType,
  { value, origins }: Layer,
  found: Findings,
  isWhole: boolean,
): Layer | undefined {
  // Compiling a parser takes longer than the one or two trees that it would see.
  const result = schema.safeParse(value, { jitless: true });
  if (result.success) return { value: result.data, origins };
  for (const report of refusals(result.error, value, schema)) {
    const place = placeOf(report, origins);
    if (isWhole || place) found.add(report, place);
  }
  return undefined;
}

/** Whether `copy` says of a component what `original` says of the shared setting that it comes from. */
function isSharedFault(original: Finding, copy: Finding): boolean {
  const isSamePlace = (["file", "line", "column", "severity", "code"] as const).every(
    (key) => original[key] === copy[key],
  );
  const isInside = original.path !== "" && copy.path.endsWith(`.${original.path}`);
  if (!isSamePlace || !isInside || !original.message.startsWith(original.path)) return false;
  return copy.message === copy.path + original.message.slice(original.path.length);
}

/** Collects what is wrong; the same thing at the same place once. */
class Findings {
  readonly #found = new Map<string, Finding>();

  get errors(): number {
    return [...this.#found.values()].filter(({ severity }) => severity === "error").length;
  }

  push(finding: Finding): void {
    this.#found.set(JSON.stringify([finding.path, finding.message, finding.file, finding.line]), finding);
  }

  add(report: Report, origin: Origin | undefined): void {
    const finding = findingOf(report, origin);
    // What came by a flag has no place; the flag itself stands for it.
    const flag = origin?.file === undefined ? origin?.flag : undefined;
    const isNamed = flag === undefined || finding.message.includes(flag);
    this.push(
      isNamed ? finding : { ...finding, message: `${finding.message.replace(/\.$/, "")} (${flag}).` },
    );
  }

  addIn(report: Report, origins: Origins): void {
    this.add(report, placeOf(report, origins));
  }

  sorted(): Finding[] {
    const all = [...this.#found.values()];
    return all
      .filter((each) => !all.some((other) => isSharedFault(other, each)))
      .sort(
        (a, b) =>
          Number(a.severity === "warning") - Number(b.severity === "warning") ||
          (a.file ?? "").localeCompare(b.file ?? "") ||
          (a.line ?? 0) - (b.line ?? 0),
      );
  }
}
