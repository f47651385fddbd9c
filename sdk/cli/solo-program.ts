import type { Command } from "commander";
import type { CliContext } from "./context.ts";

/**
 * The program with the one command that is asked for, where that is run again and again and must be quick: all
 * commands together take longer to load than a small project to check. Undefined for every other command.
 */
export async function soloProgram(
  context: CliContext,
  name: string | undefined,
  isJson: boolean,
): Promise<Command | undefined> {
  if (name !== "validate") return undefined;
  const [{ Command }, { validateCommand }, { prepareCommand }] = await Promise.all([
    import("commander"),
    import("./commands/validate.ts"),
    import("./prepare-command.ts"),
  ]);
  const program = new Command("spotter").enablePositionalOptions().addCommand(validateCommand(context));
  prepareCommand(program, context, isJson);
  return program;
}
