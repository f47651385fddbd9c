import { Command } from "commander";
import { packageVersion } from "../local/home.ts";
import { checkpointCommand } from "./commands/checkpoint.ts";
import { configCommand } from "./commands/config.ts";
import { datasetCommand } from "./commands/dataset.ts";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { cleanupCommand } from "./commands/cleanup.ts";
import { deployCommand } from "./commands/deploy.ts";
import { destroyCommand } from "./commands/destroy.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { downCommand } from "./commands/down.ts";
import { endpointCommand } from "./commands/endpoint.ts";
import { evalCommand } from "./commands/eval.ts";
import { initCommand } from "./commands/init.ts";
import { keyCommand } from "./commands/key.ts";
import { modelCommand } from "./commands/model.ts";
import { openCommand } from "./commands/open.ts";
import { testCommand } from "./commands/project-test.ts";
import { entrypointCommands } from "./commands/rl.ts";
import { runCommand } from "./commands/run.ts";
import { secretCommand } from "./commands/secret.ts";
import { statusCommand } from "./commands/status.ts";
import { upCommand } from "./commands/up.ts";
import { validateCommand } from "./commands/validate.ts";
import { versionCommand } from "./commands/version.ts";
import { webhookCommand } from "./commands/webhook.ts";
import type { CliContext } from "./context.ts";
import { prepareCommand } from "./prepare-command.ts";

const EXAMPLES = `
First steps:
  $ spotter endpoint launch spotter/nano --name nano        serve a small model, with nothing to download
  $ spotter endpoint chat nano "Write a haiku about rain."
  $ npx node examples/first-run/run.ts                      train: trainings start from scripts, like this one
  $ spotter run watch                                       follow the newest one
  $ spotter open                                            the same in a browser
  $ spotter down                                            stop all of it

"spotter COMMAND --help" explains each command with examples. Every command takes --json.

Without SPOTTER_URL everything happens on this machine: a daemon starts by itself, keeps its state in ~/.spotter
(or SPOTTER_HOME), and ends 10 minutes after its last work unless "spotter up" started it. With SPOTTER_URL and
SPOTTER_API_KEY, commands and scripts talk to the control plane there.

Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.`;

/** In groups, in the order of help. */
const COMMANDS: Record<string, ((context: CliContext) => Command)[]> = {
  "Models, trainings, scores:": [
    endpointCommand,
    runCommand,
    evalCommand,
    checkpointCommand,
    datasetCommand,
    modelCommand,
    devCommand,
  ],
  "A project folder:": [initCommand, validateCommand, testCommand],
  "prime-rl's configuration files:": [...entrypointCommands, configCommand],
  "This machine:": [upCommand, downCommand, statusCommand, openCommand],
  "AWS:": [deployCommand, destroyCommand, doctorCommand],
  "Access:": [keyCommand, secretCommand, webhookCommand],
  "State:": [cleanupCommand, backupCommand, restoreCommand],
  "Help:": [versionCommand],
};

/** All commands. What they throw, commander's own errors included, reaches the caller of `parseAsync`. */
export function createProgram(context: CliContext, isJson: boolean): Command {
  const program = new Command("spotter")
    .description("Serve, evaluate and train language models, on this machine or on your own AWS account.")
    // `run` has options of its own; those behind a verb are the verb's.
    .enablePositionalOptions()
    .version(packageVersion(), "-V, --version", "print the version")
    .addHelpCommand(
      new Command("help").argument("[command...]").description("Explain a command").helpGroup("Help:"),
    )
    .helpOption("-h, --help", "explain a command")
    .addHelpText("after", EXAMPLES);
  for (const [heading, creates] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const create of creates) program.addCommand(create(context));
  }
  prepareCommand(program, context, isJson);
  return program;
}
