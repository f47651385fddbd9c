import type { Command } from "commander";
import { SpotterError } from "../../schema/errors.ts";
import type { Alias as AliasRecord, AliasTarget } from "../../schema/alias.ts";
import { Alias } from "../../alias.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { ageText } from "../render/time.ts";
import { verb } from "../verb.ts";

/** `spotter endpoint alias`: shows aliases, sets one, or removes one. */
export function aliasCommand(context: CliContext): Command {
  return verb(
    "alias [name] [targets...]",
    "Let a name lead to endpoints, runs or checkpoints, by weight and live",
    [
      "spotter endpoint alias haiku haiku-v1=90 haiku-v2=10",
      "spotter endpoint alias haiku run-EXAMPLE@60",
      "spotter endpoint alias haiku --remove",
      "spotter endpoint alias",
    ],
    { name: "the name to chat with; none: list all", targets: "each MODEL or MODEL=WEIGHT" },
  )
    .option("--remove", "take the name away; what it leads to stays")
    .action(
      async (name: string | undefined, targets: string[], options: { remove?: boolean; json?: boolean }) => {
        const { signal } = context;
        if (name === undefined) return show(context, await Alias.list({ signal }), options.json);
        if (options.remove) {
          if (targets.length > 0) throw bad("Targets and --remove do not go together.");
          await Alias.remove(name, { signal });
          return options.json ? printJson(context, { removed: name }) : print(context, `Removed ${name}.`);
        }
        const isSet = targets.length > 0;
        const alias = isSet
          ? await Alias.set(name, targets.map(parsedTarget), { signal })
          : await Alias.get(name, { signal });
        if (options.json) return printJson(context, alias);
        for (const { model, share } of sharesOf(alias)) print(context, `${alias.name} → ${model}  ${share}`);
      },
    );
}

function show(context: CliContext, aliases: AliasRecord[], json: boolean | undefined): void {
  if (json) return printJson(context, aliases);
  const rows = aliases.flatMap((alias) =>
    sharesOf(alias).map(({ model, share }) => [
      alias.name,
      model,
      share,
      ageText(alias.changedAtMs, Date.now()),
    ]),
  );
  const whenEmpty = "No aliases yet. Make one: `spotter endpoint alias haiku haiku-v1=90 haiku-v2=10`";
  printList(context, ["ALIAS", "LEADS TO", "SHARE", "CHANGED"], rows, whenEmpty);
}

function sharesOf({ targets }: AliasRecord): { model: string; share: string }[] {
  const sum = targets.reduce((total, { weight }) => total + weight, 0);
  return targets.map(({ model, weight }) => ({
    model,
    share: `${Number(((100 * weight) / sum).toPrecision(3))}%`,
  }));
}

/** `model` or `model=weight`. */
function parsedTarget(text: string): AliasTarget {
  const [, model = "", weight] = /^([^=]*)(?:=(.*))?$/.exec(text) ?? [];
  const value = weight === undefined ? 1 : Number(weight);
  if (model !== "" && weight !== "" && Number.isFinite(value) && value >= 0) return { model, weight: value };
  throw bad(`"${text}" is not a target.`);
}

function bad(message: string): SpotterError {
  return new SpotterError("invalid_input", message, {
    where: "targets",
    hint: "`spotter endpoint alias haiku haiku-v1=90 haiku-v2=10`",
  });
}
