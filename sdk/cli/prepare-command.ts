import type { Command } from "commander";
import type { CliContext } from "./context.ts";
import { usageError } from "./usage-error.ts";

/** Errors are thrown, output goes to the context: for every command, however deep. */
export function prepareCommand(command: Command, context: CliContext, isJson: boolean): void {
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
  command.commands.forEach((child) => prepareCommand(child, context, isJson));
}
