import * as z from "zod/mini";
import { CONFIG_HELP } from "./config-help.ts";
import { projectConfig } from "./config-schema.ts";

type JsonSchema = Record<string, unknown> & {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
};

/**
 * config.yml as a JSON Schema with a description of each key, for editors:
 * `# yaml-language-server: $schema=./config.schema.json`.
 */
export function configJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(projectConfig, { io: "input" }) as JsonSchema;
  describe(schema, []);
  return { ...schema, title: "config.yml of a Spotter project" };
}

function describe(schema: JsonSchema, path: readonly string[]): void {
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const keys = [...path, key];
    const text = CONFIG_HELP[keys.join(".")];
    if (text !== undefined) child.description = text;
    describe(child, keys);
  }
  // Lists and what may be null: the keys are those of what is within.
  for (const within of [schema.items, ...(schema.anyOf ?? [])]) if (within) describe(within, path);
}
