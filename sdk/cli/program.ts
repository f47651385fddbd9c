import { Command } from "commander";
import { packageVersion } from "../local/home.ts";
import { checkpointCommand } from "./commands/checkpoint.ts";
import { datasetCommand } from "./commands/dataset.ts";
import { backupCommand, restoreCommand } from "./commands/backup.ts";
import { cleanupCommand } from "./commands/cleanup.ts";
import { devCommand } from "./commands/dev.ts";
import { downCommand } from "./commands/down.ts";
import { endpointCommand } from "./commands/endpoint.ts";
import { evalCommand } from "./commands/eval.ts";
import { keyCommand } from "./commands/key.ts";
import { modelCommand } from "./commands/model.ts";
import { openCommand } from "./commands/open.ts";
import { runCommand } from "./commands/run.ts";
import { secretCommand } from "./commands/secret.ts";
import { statusCommand } from "./commands/status.ts";
import { upCommand } from "./commands/up.ts";
import { versionCommand } from "./commands/version.ts";
import { webhookCommand } from "./commands/webhook.ts";
import type { CliContext } from "./context.ts";
import { usageError } from "./usage-error.ts";

const EXAMPLES = `
Examples:
  $ spotter up                                  start the daemon of this machine for good
  $ spotter endpoint launch spotter/nano --name nano
  $ spotter endpoint chat nano "Write a haiku about rain."
  $ spotter run watch run-01jd                  follow a training
  $ spotter checkpoint download run-01jd@60 ./my-model

Without SPOTTER_URL and SPOTTER_API_KEY everything happens on this machine. Every command takes --json.
Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted.`;

/** All commands. What they throw, commander's own errors included, reaches the caller of `parseAsync`. */
export function createProgram(context: CliContext, isJson: boolean): Command {
  const program = new Command("spotter")
    .description("Serve, evaluate and train language models, on this machine or on your own AWS account.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpCommand("help [command...]", "explain a command")
    .addHelpText("after", EXAMPLES);
  for (const create of [
    upCommand,
    downCommand,
    statusCommand,
    openCommand,
    devCommand,
    endpointCommand,
    runCommand,
    evalCommand,
    checkpointCommand,
    datasetCommand,
    modelCommand,
    keyCommand,
    secretCommand,
    webhookCommand,
    cleanupCommand,
    backupCommand,
    restoreCommand,
    versionCommand,
  ]) {
    program.addCommand(create(context));
  }
  prepare(program, context, isJson);
  return program;
}

/** Errors are thrown, output goes to the context: for every command, however deep. */
function prepare(command: Command, context: CliContext, isJson: boolean): void {
  command.showSuggestionAfterError(true).exitOverride((error) => {
    const isHelp = error.exitCode === 0 || error.code === "commander.help";
    throw isHelp ? error : usageError(command, error);
  });
  command.configureOutput({
    writeOut: (text) => void context.out.write(text),
    writeErr: (text) => void (isJson || context.err.write(text)),
    // Thrown instead, and shown like every other error.
    outputError: () => undefined,
    getOutHelpWidth: () => 100,
    getErrHelpWidth: () => 100,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  command.commands.forEach((child) => prepare(child, context, isJson));
}
