import { SpotterError } from "../../schema/errors.ts";

/** `--stack` of every command around a stack. */
export const STACK_OPTION = ["--stack <name>", "name of the stack", "dev"] as const;

/** What infra/config.ts takes, to the letter: names of functions are made of it, and those have 64 letters at most. */
export const STACK_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;

/**
 * Checks the name of a stack, which is part of the names of resources, paths of secrets and values of tags.
 *
 * @throws SpotterError `invalid_input`
 */
export function stackName(text: string): string {
  if (STACK_NAME.test(text)) return text;
  throw new SpotterError(
    "invalid_input",
    `${JSON.stringify(text.slice(0, 120))} cannot be the name of a stack.`,
    {
      where: "--stack",
      hint: "Use up to 40 letters, digits, dashes and underscores, beginning with a letter or digit.",
    },
  );
}
