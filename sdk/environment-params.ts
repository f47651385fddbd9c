import * as z from "zod/mini";
import { positiveInt } from "./schema/common.ts";
import { environmentSetup, toolSetup } from "./schema/setups.ts";

/** A module of tools; a path or URL alone means all tools of that file. */
export type Tools = URL | string | ToolsParams;

export interface ToolsParams {
  /** A module whose exports are made with `tool(...)`. Its imports are bundled. */
  file: URL | string;
  /** Exports to use. Default: every tool. */
  names?: string[];
  /** Time for one call. Default 10,000. */
  timeoutMs?: number;
}

/** An environment to play in: whose tasks are drawn, and how often. */
export interface EnvironmentParams {
  /** A module that exports what `environment(...)` made. Its imports are bundled. */
  file: URL | string;
  /** Which export. Default: the only environment of the file. */
  export?: string;
  /** What the run calls it. Default: the export's name. */
  name?: string;
  /** Handed to its `load`, as they are. */
  args?: Record<string, unknown>;
  /** How often its tasks are drawn, in relation to the other environments. Default 1. */
  ratio?: number;
  /** Answers of an episode at most. Default: `maxTurns` of the recipe, which is the most in any case. */
  maxTurns?: number;
  /** Only so many of its tasks, the first. Default: all. */
  maxTasks?: number;
  /** Time for one call of `setup`, `step` or a tool. Default 10,000. */
  timeoutMs?: number;
}

const path = z.string().check(z.minLength(1, "is an empty text, expected the path of a file"));
const url = z.custom<URL>((value) => value instanceof URL, "expected a path or a URL");
const file = z.union([path, url]);
const { code: _tools, ...toolFields } = toolSetup.shape;
const { code: _code, export: _export, name: _name, ...environmentFields } = environmentSetup.shape;

export const toolsParam = z.union([path, url, z.strictObject({ file, ...toolFields })], {
  error: "expected the path or URL of a tools file, or { file, names, timeoutMs }",
});

export const environmentsParam = z
  .array(
    z.strictObject({
      file,
      export: z.optional(z.string()),
      name: z.optional(environmentSetup.shape.name),
      args: z.optional(z.record(z.string(), z.unknown())),
      maxTasks: z.optional(positiveInt),
      ...environmentFields,
    }),
  )
  .check(z.minLength(1, "is empty; leave it out, or name an environment"));
