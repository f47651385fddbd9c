import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { noun, verb } from "../verb.ts";
import { runRaw } from "./rl-words.ts";

const ENTRYPOINT = "rl, sft, inference, trainer or orchestrator";

/** For help and the list of commands; their words are read by `runRaw`, as those of the entrypoints are. */
export function configCommand(context: CliContext): Command {
  const verbs = [
    verb(
      "explain <entrypoint> [words...]",
      "Tell what a setting is, where it comes from, and what else was said",
      [
        "spotter config explain rl trainer.optim.lr @ base.toml @ overlay.toml",
        "spotter config explain rl orchestrator.train @ rl.toml",
      ],
      { entrypoint: ENTRYPOINT, words: "settings, then files and flags as the entrypoint takes them" },
    ),
    verb(
      "diff <entrypoint> [words...]",
      "Compare two configurations, resolved",
      [
        "spotter config diff rl base.toml overlay.toml",
        "spotter config diff rl @ base.toml -- @ base.toml --trainer.optim.lr 1e-5",
        "spotter config diff rl /tmp/one /tmp/two",
      ],
      {
        entrypoint: ENTRYPOINT,
        words:
          "two files or folders of dry runs; or the words of one configuration, --, the words of the other",
      },
    ),
    verb(
      "schema <entrypoint>",
      "Print the JSON Schema of a configuration file, for editors",
      "spotter config schema rl > rl.schema.json",
      { entrypoint: ENTRYPOINT },
    ),
    verb(
      "migrate <entrypoint> <files...>",
      "Rewrite a configuration for prime-rl's other pinned version, and tell what that one cannot say",
      ["spotter config migrate rl rl.toml --to head", "spotter config migrate rl rl.json --to seed"],
      { entrypoint: ENTRYPOINT, files: "TOML, JSON or YAML" },
    ).option("--to <version>", "head: main at 559b44772; seed: b02169f19, whose names Spotter takes"),
  ];
  for (const each of verbs) {
    each.allowUnknownOption().action(async (_entrypoint: string, ...rest: unknown[]) => {
      const command = rest.at(-1) as Command;
      await runRaw(context, ["config", command.name(), ...command.args]);
    });
  }
  return noun("config", "Explain, compare and migrate configurations in prime-rl's form", verbs);
}
