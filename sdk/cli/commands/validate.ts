import type { Command } from "commander";
import { type CliContext, print, printJson } from "../context.ts";
import { findingLines, verdictLine } from "../render/findings.ts";
import { Told } from "../told.ts";
import { verb } from "../verb.ts";

interface Options {
  dir: string;
  schema?: boolean;
  json?: boolean;
}

export function validateCommand(context: CliContext): Command {
  return verb("validate", "Check a project folder, every row of it, offline", [
    "spotter validate",
    "spotter validate -d my-project --json",
    "spotter validate --schema > config.schema.json",
  ])
    .option("-d, --dir <folder>", "the project", ".")
    .option("--schema", "print the JSON Schema of config.yml instead, for editors")
    .action(async (options: Options) => {
      if (options.schema) {
        const { configJsonSchema } = await import("../../config/project-folder/json-schema.ts");
        return printJson(context, configJsonSchema());
      }
      // Loaded only here: no other command reads YAML.
      const { validateProject } = await import("../../config/project-folder/validate.ts");
      const startMs = performance.now();
      const { ok, findings } = await validateProject(options.dir, {
        signal: context.signal,
        environment: process.env,
      });
      if (options.json) printJson(context, { ok, findings });
      else {
        for (const line of findingLines(findings, context)) print(context, line);
        print(context, verdictLine(findings, performance.now() - startMs, context.colors));
      }
      if (!ok) throw new Told(2);
    });
}
