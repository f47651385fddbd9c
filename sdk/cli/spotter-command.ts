type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A command as one can paste it: with `npx` where the program is not on the path, and with the state folder
 * where it is not the usual one.
 *
 * @example
 * spotterCommand("run watch run-EXAMPLE"); // "SPOTTER_HOME=/tmp/gym npx spotter run watch run-EXAMPLE"
 */
export function spotterCommand(args: string, env: Environment = process.env): string {
  return `${homeOf(env)}${programOf(env)} ${args}`;
}

/** A hint whose commands, between backticks, can be pasted. */
export function withCommands(hint: string, env: Environment = process.env): string {
  return hint.replaceAll(/`(?:npx )?spotter (?=[a-z-])/g, () => `\`${spotterCommand("", env)}`);
}

function programOf(env: Environment): string {
  return env.npm_command === "exec" || env.npm_lifecycle_event ? "npx spotter" : "spotter";
}

function homeOf({ SPOTTER_HOME: home }: Environment): string {
  if (!home) return "";
  return `SPOTTER_HOME=${/^[\w./~-]+$/.test(home) ? home : `'${home.replaceAll("'", "'\\''")}'`} `;
}
