import { CommanderError } from "commander";

/** Ends a command that has said itself what is wrong with its input: exit code 2, nothing more is printed. */
export function endAsBadInput(): never {
  throw new CommanderError(2, "spotter.findings", "The findings are printed.");
}
