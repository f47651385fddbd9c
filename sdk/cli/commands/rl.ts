import type { Command } from "commander";
import type { CliContext } from "../context.ts";
import { verb } from "../verb.ts";

/** Commands that take a prime-rl configuration, with what they run and the file of the example. */
const ENTRYPOINT_COMMANDS = {
  rl: ["Train by reinforcement learning, from prime-rl's configuration files", "rl.toml"],
  sft: ["Train on examples, from prime-rl's configuration files", "sft.toml"],
  inference: ["Serve a model, from a prime-rl configuration", "inference.toml"],
  trainer: ["The trainer of an rl run alone, from its resolved file", "configs/trainer.toml"],
  orchestrator: ["The orchestrator of an rl run alone, from its resolved file", "configs/orchestrator.toml"],
} as const;

/** For the list of commands. Their words are read by `runRaw`: files and flags mean what the schema says. */
export const entrypointCommands = Object.entries(ENTRYPOINT_COMMANDS).map(
  ([name, [description, file]]) =>
    (context: CliContext): Command =>
      verb(`${name} [words...]`, description, [
        `spotter ${name} @ ${file} --dry-run --output-dir /tmp/check`,
        `spotter ${name} --help`,
      ])
        .usage("[@ file.toml]... [--path.to.setting VALUE]...")
        .option("--dry-run", "resolve, write the result under the output folder, start nothing")
        .allowUnknownOption()
        .action(async (_words: string[], _options: unknown, command: Command) => {
          const { runEntrypoint } = await import("./rl-entrypoint.ts");
          await runEntrypoint(context, name as keyof typeof ENTRYPOINT_COMMANDS, command.args);
        }),
);
