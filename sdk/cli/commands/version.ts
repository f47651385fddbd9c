import type { Command } from "commander";
import { packageVersion } from "../../local/home.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { verb } from "../verb.ts";

export function versionCommand(context: CliContext): Command {
  return verb("version", "Print the version", "spotter version").action((options: { json?: boolean }) => {
    if (options.json) printJson(context, { version: packageVersion() });
    else print(context, packageVersion());
  });
}
