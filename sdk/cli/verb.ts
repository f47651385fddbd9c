import { Command } from "commander";

/**
 * A verb with an example or several, and the `--json` that every one has.
 *
 * @param args What its arguments mean, by name, where the name alone does not say it.
 */
export function verb(
  usage: string,
  description: string,
  example: string | readonly string[],
  args: Readonly<Record<string, string>> = {},
): Command {
  const [name = "", ...words] = usage.split(" ");
  const command = new Command(name).description(description).option("--json", "print JSON");
  for (const word of words) command.argument(word, args[word.replaceAll(/[<>[\]]|\.{3}/g, "")] ?? "");
  return withExamples(command, typeof example === "string" ? [example] : example);
}

/** A noun with its verbs. Alone it explains itself and counts as bad input. */
export function noun(
  name: string,
  description: string,
  verbs: readonly Command[],
  /** How the verbs go together. Default: the first example of each. */
  examples: readonly string[] = verbs.flatMap((each) => shown.get(each)?.slice(0, 1) ?? []),
): Command {
  const command = new Command(name).description(description);
  for (const each of verbs) command.addCommand(each);
  return withExamples(command, examples);
}

const shown = new WeakMap<Command, readonly string[]>();

function withExamples(command: Command, examples: readonly string[]): Command {
  shown.set(command, examples);
  const heading = examples.length === 1 ? "Example:" : "Examples:";
  return command.addHelpText("after", ["", heading, ...examples.map((line) => `  $ ${line}`)].join("\n"));
}

/** What an argument that means a run is told to be. */
export const RUN_ID = "its id, as `spotter run list` prints it";
export const CHECKPOINT_ID = "its id, run@step, as `spotter checkpoint list` prints it";
