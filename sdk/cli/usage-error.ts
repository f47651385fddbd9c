import type { Command, CommanderError } from "commander";
import { SpotterError } from "../schema/errors.ts";

/** What is wrong with the words of a command line, in the shape of every other error. */
export function usageError(command: Command, error: CommanderError): SpotterError {
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/[.?]$/, "")}.`;
  const path = pathOf(command);
  return new SpotterError(
    "invalid_input",
    // commander puts its suggestion in brackets.
    suggestion ? `${sentence} ${suggestion.replace(/^\((.*)\)$/, "$1")}` : sentence,
    { hint: `Usage: ${path} ${command.usage()}. See \`${path} --help\`.`, cause: error },
  );
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
