import { Command } from "commander";

/** A verb with its example and the `--json` that every one has. */
export function verb(usage: string, description: string, example: string): Command {
  const [name = "", ...args] = usage.split(" ");
  const command = new Command(name).description(description).option("--json", "print JSON");
  for (const arg of args) command.argument(arg);
  return command.addHelpText("after", `\nExample:\n  $ ${example}`);
}

/** A noun with its verbs. Alone it explains itself and counts as bad input. */
export function noun(name: string, description: string, verbs: Command[]): Command {
  const command = new Command(name).description(description);
  for (const each of verbs) command.addCommand(each);
  return command;
}
