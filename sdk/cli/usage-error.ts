import type { Command, CommanderError } from "commander";
import { SpotterError } from "../schema/errors.ts";
import { folderError } from "./refuse-words.ts";

const CHOICE = new Intl.ListFormat("en", { type: "disjunction" });

/** What is wrong with the words of a command line, in the shape of every other error. */
export function usageError(command: Command, error: CommanderError): SpotterError {
  const folder = error.code === "commander.excessArguments" && folderError(command, command.args[0]);
  if (folder) return folder;
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/[.?]$/, "")}.`;
  const path = pathOf(command);
  // commander puts its suggestion in brackets.
  const meant = nounsOf(command, error) ?? suggestion?.replace(/^\((.*)\)$/, "$1");
  return new SpotterError("invalid_input", meant ? `${sentence} ${meant}` : sentence, {
    hint: `Usage: ${path} ${command.usage()}. See \`${path} --help\`.`,
    cause: error,
  });
}

/**
 * The words without `--help` where they name no command: commander would answer with the help of what is above
 * it, as if the name were right.
 */
export function withoutVainHelp(program: Command, words: readonly string[]): string[] {
  let command = program;
  for (const word of words) {
    if (word.startsWith("-")) return [...words];
    const child = command.commands.find((each) => each.name() === word);
    if (
      !child &&
      (command.commands.length === 0 || command.registeredArguments.length > 0 || word === "help")
    )
      return [...words];
    if (!child) return words.filter((each) => each !== "--help" && each !== "-h");
    command = child;
  }
  return [...words];
}

/** A verb without its noun, such as `launch`: the commands that it may be part of. */
function nounsOf(command: Command, { code, message }: CommanderError): string | undefined {
  if (code !== "commander.unknownCommand") return undefined;
  const word = /'(.*?)'/.exec(message)?.[1];
  const whole = command.commands.flatMap((noun) =>
    noun.commands.some((verb) => verb.name() === word) ? [`${noun.name()} ${word}`] : [],
  );
  return whole.length > 0 ? `Did you mean ${CHOICE.format(whole)}?` : undefined;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
