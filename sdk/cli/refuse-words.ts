import { statSync } from "node:fs";
import type { Command } from "commander";
import { nearestName } from "../schema/nearest-name.ts";
import { SpotterError } from "../schema/errors.ts";

/**
 * Refuses a word without `=` where a command takes values of a project folder.
 *
 * @throws SpotterError `invalid_input`: it was meant for a folder, or for a verb.
 */
export function refuseWords(command: Command, words: readonly string[]): void {
  const word = words.find((each) => !each.includes("="));
  if (word === undefined) return;
  const folder = folderError(command, word);
  if (folder) throw folder;
  // What takes no verbs tells by itself which values it takes.
  if (command.commands.length === 0) return;
  const near = nearestName(
    word,
    command.commands.map((each) => each.name()),
  );
  throw new SpotterError(
    "invalid_input",
    `Unknown command '${word}'.${near ? ` Did you mean ${near}?` : ""}`,
    { hint: `Values are written key=value. See \`spotter ${command.name()} --help\`.` },
  );
}

/** For a command that takes a folder, and was given it as a word; undefined for any other word. */
export function folderError(command: Command, word: string | undefined): SpotterError | undefined {
  const takesFolder = command.options.some(({ long }) => long === "--dir");
  if (word === undefined || !takesFolder || !isFolder(word)) return undefined;
  return new SpotterError("invalid_input", `${word} is a folder: it is named with -d.`, {
    hint: `spotter ${command.name()} -d ${/\s/.test(word) ? JSON.stringify(word) : word}`,
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
