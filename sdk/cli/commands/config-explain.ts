import { targetOf } from "../../config/prime-rl/argv-target.ts";
import { ruleOf } from "../../config/prime-rl/embedded/classify.ts";
import type { FieldRule } from "../../config/prime-rl/embedded/fields.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { takesText } from "../../config/prime-rl/help.ts";
import { ListPatch } from "../../config/prime-rl/lists.ts";
import { originIn, originText, pathText } from "../../config/prime-rl/provenance.ts";
import { resolve, type NamedLayer, type Resolution } from "../../config/prime-rl/resolve.ts";
import type { Path } from "../../config/prime-rl/types.ts";
import { fieldIn, rootOf, sectionsIn, type Field, type Shape, below } from "../../config/prime-rl/walk.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { table } from "../render/table.ts";
import { Told } from "../told.ts";
import { printFindings } from "./rl-findings.ts";
import { noSetting, printSettings, valueOf, valueText } from "./rl-settings.ts";

const CLASSES: Record<FieldRule["class"], string> = {
  honoured: "honoured",
  irrelevant: "changes nothing",
  refused: "refused, other than by default",
};

/** One setting, or a section with all in it. */
interface Explained {
  path: string;
  /** The resolved value; undefined where nothing could be resolved. */
  value: unknown;
  from: string;
  /** What each source said, lowest first. */
  said: { value: unknown; from: string }[];
  takes: string;
  about: string;
  /** What the embedded engine makes of it; null for sections, and for what runs on GPU hosts alone. */
  here: Pick<FieldRule, "class" | "note"> | null;
}

/** `spotter config explain ENTRYPOINT [SETTING]... [@ FILE | --FLAG]...` */
export async function explainConfiguration(
  context: CliContext,
  name: EntrypointName,
  args: readonly string[],
  isJson: boolean,
): Promise<void> {
  const end = args.findIndex((word) => word.startsWith("-") || word.startsWith("@"));
  const settings = end === -1 ? args : args.slice(0, end);
  const resolution = await resolve(ENTRYPOINTS[name], end === -1 ? [] : args.slice(end));
  const explained = settings.map((setting) => explain(name, setting, resolution));
  if (isJson) printJson(context, { settings: explained, findings: resolution.findings });
  else {
    for (const each of explained) printExplained(context, name, each, resolution);
    if (settings.length === 0 && resolution.config)
      printSettings(context, resolution.config, resolution.provenance);
    printFindings(context, resolution.findings);
  }
  if (resolution.config === null) throw new Told(2);
}

function explain(
  name: EntrypointName,
  setting: string,
  { config, layers, provenance }: Resolution,
): Explained {
  const root = rootOf(ENTRYPOINTS[name].schema);
  const { path, shape } = targetOf(setting.replace(/^--/, ""), root);
  if (shape === undefined) throw noSetting(name, path);
  const field = fieldAt(root, path);
  const isSection = sectionsIn(shape) !== undefined;
  return {
    path: pathText(path),
    value: valueAt(config, path),
    from: provenance[pathText(path)] ?? (config === null ? "" : "its settings"),
    said: layers.flatMap((layer) => saidIn(layer, path)),
    takes: isSection ? "" : takesText(shape),
    about: field?.description ?? "",
    here: isSection ? null : hereOf(name, pathText(path)),
  };
}

/** What the engine of this machine makes of a setting. */
function hereOf(name: EntrypointName, path: string): Explained["here"] {
  const rule = name === "rl" || name === "sft" ? ruleOf(name, path) : undefined;
  return rule ? { class: rule.class, note: rule.note } : null;
}

function fieldAt(root: Shape, path: Path): Field | undefined {
  const parent = path
    .slice(0, -1)
    .reduce<Shape | undefined>((shape, step) => shape && below(shape, step), root);
  const sections = parent && sectionsIn(parent);
  return sections && fieldIn(sections, String(path.at(-1)));
}

function saidIn(layer: NamedLayer, path: Path): Explained["said"] {
  const value = valueAt(layer.value, path);
  if (value === undefined) return [];
  return [{ value: plain(value), from: originText(originIn(layer.origins, path)) }];
}

function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((held, step) => {
    if (held instanceof ListPatch) return held.items.get(Number(step));
    return (held as Record<string | number, unknown> | null | undefined)?.[step];
  }, tree);
}

/** Changes to a list as JSON can show them. */
function plain(value: unknown): unknown {
  return value instanceof ListPatch ? Object.fromEntries(value.items) : value;
}

function printExplained(
  context: CliContext,
  name: EntrypointName,
  each: Explained,
  { config, provenance }: Resolution,
): void {
  const { bold, dim } = context.colors;
  const inside = Object.entries(provenance).filter(([path]) => path.startsWith(`${each.path}.`));
  const value = config === null || inside.length > 0 ? "" : ` = ${valueText(each.value)}`;
  print(context, `${bold(each.path)}${value}${value && dim(`  from ${each.from}`)}`);
  if (each.about || each.takes)
    print(context, `  ${[each.about, dim(each.takes)].filter(Boolean).join("  ")}`);
  if (each.here) print(context, `  On this machine: ${CLASSES[each.here.class]}; ${each.here.note}.`);
  const overridden = each.said.slice(0, inside.length > 0 ? undefined : -1);
  for (const { value, from } of [...overridden].reverse())
    print(context, dim(`  ${from} said ${valueText(value)}`));
  const rows = inside.map(([path, from]) => [
    path,
    valueText(valueOf(config, path)),
    hereOf(name, path)?.class ?? "",
    dim(from),
  ]);
  if (rows.length > 0)
    for (const line of table(["SETTING", "VALUE", "HERE", "FROM"], rows)) print(context, line);
}
