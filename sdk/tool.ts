import { checkOptions, define, must } from "./user-code/definition.ts";

export interface ToolOptions {
  /** What the tool does and when to use it: the model reads this. */
  description: string;
  /** JSON Schema of the input object, for example `z.toJSONSchema(schema)`. */
  parameters: Record<string, unknown>;
  /** Longest time for one call, in milliseconds. Default: the run's own limit (10 s). */
  timeoutMs?: number;
}

export interface ToolContext {
  /** Values of the secrets granted to this code, by name. */
  secrets: Record<string, string>;
}

/** Takes the parsed arguments of the model's call; what it returns goes back to the model as JSON. */
export type ToolFunction<Input> = (input: Input, context: ToolContext) => unknown;

/** A tool with its options; it can still be called like the plain function. */
export type Tool<Input = Record<string, unknown>> = ToolFunction<Input> & Readonly<{ options: ToolOptions }>;

/**
 * Makes a function a tool that a model can call. The exported name is the tool's name. It runs inside an
 * isolate: no network, no files, no environment.
 *
 * @throws TypeError if an option is missing, unknown or has the wrong type.
 * @example
 * // tools.ts
 * import { tool } from "spotter";
 *
 * export const add = tool<{ a: number; b: number }>(
 *   {
 *     description: "Add two numbers.",
 *     parameters: {
 *       type: "object",
 *       properties: { a: { type: "number" }, b: { type: "number" } },
 *       required: ["a", "b"],
 *     },
 *   },
 *   ({ a, b }) => a + b,
 * );
 */
export function tool<Input = Record<string, unknown>>(
  options: ToolOptions,
  fn: ToolFunction<Input>,
): Tool<Input> {
  checkOptions("tool", options, {
    description: must.beText,
    parameters: beObjectSchema,
    timeoutMs: must.beTimeoutMs,
  });
  if (!options.description)
    throw new TypeError("tool: description is missing; the model chooses tools by it");
  if (!options.parameters)
    throw new TypeError('tool: parameters is missing; give { type: "object" } for none');
  if (typeof fn !== "function") throw new TypeError("tool: the last argument must be a function");
  const run = Object.assign((input: Input, context: ToolContext) => fn(input, context), { options });
  const { description, parameters, timeoutMs } = options;
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return define(run, { kind: "tool", description, parameters, ...limit });
}

function beObjectSchema(value: unknown): string | undefined {
  const isObject =
    typeof value === "object" && value !== null && (value as { type?: unknown }).type === "object";
  return isObject ? undefined : 'must be a JSON Schema with type "object"';
}
