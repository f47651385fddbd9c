import { ENTRYPOINTS, type EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { SpotterError } from "../../schema/errors.ts";
import { nearestName } from "../../schema/nearest-name.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { diffConfigurations } from "./config-diff.ts";
import { explainConfiguration } from "./config-explain.ts";

export type ConfigVerb = "explain" | "diff" | "schema" | "migrate";

/** Runs `spotter config VERB …`: its words are those of an entrypoint, with a few of its own before them. */
export async function runConfig(
  context: CliContext,
  verb: ConfigVerb,
  args: readonly string[],
): Promise<void> {
  const isJson = args.includes("--json");
  const [name = "", ...words] = args.filter((word) => word !== "--json");
  if (!isEntrypoint(name)) throw noEntrypoint(verb, name);
  switch (verb) {
    case "explain":
      return explainConfiguration(context, name, words, isJson);
    case "diff":
      return diffConfigurations(context, name, words, isJson);
    case "migrate": {
      // Only it needs the other version's names.
      const { migrateConfiguration } = await import("./config-migrate.ts");
      return migrateConfiguration(context, name, words, isJson);
    }
    case "schema":
      return printSchema(context, name, isJson);
  }
}

function isEntrypoint(name: string): name is EntrypointName {
  return Object.hasOwn(ENTRYPOINTS, name);
}

function noEntrypoint(verb: string, name: string): SpotterError {
  const names = Object.keys(ENTRYPOINTS);
  const near = nearestName(name, names);
  const message = name
    ? `${name} is no entrypoint.${near === undefined ? "" : ` Did you mean ${near}?`}`
    : `spotter config ${verb} needs the name of an entrypoint.`;
  return new SpotterError("invalid_input", message, {
    hint: `It is one of ${names.join(", ")}: \`spotter config ${verb} rl @ rl.toml\`.`,
  });
}

async function printSchema(context: CliContext, name: EntrypointName, isJson: boolean): Promise<void> {
  const { jsonSchemaOf } = await import("../../config/prime-rl/json-schema.ts");
  const schema = jsonSchemaOf(name);
  if (isJson) printJson(context, schema);
  else print(context, JSON.stringify(schema, null, 2));
}
