import * as z from "zod";
import { ENTRYPOINTS, type EntrypointName } from "./entrypoints.ts";

/** The JSON Schema (2020-12) of what a configuration file may hold. */
export function jsonSchemaOf(name: EntrypointName): Record<string, unknown> {
  return z.toJSONSchema(ENTRYPOINTS[name].schema, { io: "input", unrepresentable: "any" });
}
