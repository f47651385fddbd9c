import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { meant } from "../../config/prime-rl/errors-meant.ts";
import { pathText } from "../../config/prime-rl/provenance.ts";
import type { Path } from "../../config/prime-rl/types.ts";
import { rootOf } from "../../config/prime-rl/walk.ts";
import { SpotterError } from "../../schema/errors.ts";
import { type CliContext, print } from "../context.ts";
import { table } from "../render/table.ts";

/** What somebody said, where; the rest is default. */
export function printSettings(
  context: CliContext,
  config: Record<string, unknown>,
  provenance: Record<string, string>,
): void {
  const said = Object.entries(provenance).filter(([, from]) => from !== "default");
  const { dim } = context.colors;
  const rows = said.map(([path, from]) => [path, valueText(valueOf(config, path)), dim(from)]);
  if (rows.length > 0) for (const line of table(["SETTING", "VALUE", "FROM"], rows)) print(context, line);
  const count = Object.keys(provenance).length - said.length;
  print(
    context,
    dim(`${rows.length > 0 ? "and " : ""}${count} settings with their defaults; --json has them all`),
  );
}

/** By a path as provenance spells it. */
export function valueOf(config: unknown, path: string): unknown {
  const steps = [...path.matchAll(/"(?:[^"\\]|\\.)*"|[^.]+/g)].map(([step]) =>
    step.startsWith('"') ? (JSON.parse(step) as string) : step,
  );
  return steps.reduce<unknown>((held, step) => (held as Record<string, unknown> | undefined)?.[step], config);
}

/** As one would type it in TOML, nearly. */
export function valueText(value: unknown): string {
  return value === null || value === undefined ? "None" : JSON.stringify(value);
}

/** Who asks about a setting that is none is told what was meant. */
export function noSetting(name: EntrypointName, path: Path): SpotterError {
  const near = meant(path, rootOf(ENTRYPOINTS[name].schema), undefined);
  const guess = near ? ` Did you mean ${pathText(near)}?` : "";
  return new SpotterError("unknown_key", `There is no setting ${pathText(path)}.${guess}`, {
    hint: `\`spotter ${name} --help\` shows all settings.`,
  });
}
