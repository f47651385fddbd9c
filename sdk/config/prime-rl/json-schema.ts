import * as z from "zod";
import { ENTRYPOINTS, type EntrypointName } from "./entrypoints.ts";
import type { FieldMeta } from "./types.ts";

type Context = Parameters<NonNullable<z.core.ToJSONSchemaParams["override"]>>[0];

/**
 * The JSON Schema (2020-12) of what a configuration file may hold, the text "None" and old names included, so
 * that an editor accepts what `resolve` accepts.
 */
export function jsonSchemaOf(name: EntrypointName): Record<string, unknown> {
  return z.toJSONSchema(ENTRYPOINTS[name].schema, {
    io: "input",
    unrepresentable: "any",
    override: (context) => {
      addNone(context);
      addOldNames(context);
    },
  });
}

function addNone({ zodSchema, jsonSchema }: Context): void {
  if (zodSchema._zod.def.type !== "nullable" || !Array.isArray(jsonSchema.anyOf)) return;
  jsonSchema.anyOf = [...jsonSchema.anyOf, { const: "None" }];
}

function addOldNames({ zodSchema, jsonSchema }: Context): void {
  const { def } = zodSchema._zod;
  if (def.type !== "object" || jsonSchema.properties === undefined) return;
  for (const [name, field] of Object.entries(def.shape)) {
    const meta = z.globalRegistry.get(field) as FieldMeta | undefined;
    for (const alias of meta?.aliases ?? []) {
      if (alias.length === 1) continue;
      jsonSchema.properties[alias] = { description: `The old name of ${name}.`, deprecated: true };
    }
  }
}
