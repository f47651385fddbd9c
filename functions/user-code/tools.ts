import type { ToolDefinition } from "../../sdk/schema/job.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { nearestName } from "../../sdk/schema/parse.ts";
import type { ToolSetup } from "../../sdk/schema/run-spec.ts";
import type { EnvironmentMember, UserCodeExport } from "../../sdk/schema/user-code.ts";
import type { IsolateHandle } from "../ports/isolates.ts";
import { loadedIsolate } from "./loaded.ts";
import { getUserCode, type UserCodeDeps } from "./records.ts";

export interface OpenTools {
  handle: IsolateHandle;
  tools: UserCodeExport[];
}

/**
 * The tools that a setup names, all that the code exports without names.
 *
 * @throws SpotterError `tool_missing`, naming every name that is no tool; `not_found`, `user_code_invalid`.
 */
export async function openTools(deps: UserCodeDeps, setup: ToolSetup): Promise<OpenTools> {
  const { name: file } = await getUserCode(deps, setup.code.sha256);
  const handle = await loadedIsolate(deps, setup.code);
  const tools = handle.exports.filter(({ kind }) => kind === "tool");
  const known = tools.map(({ name }) => name);
  const unknown = setup.names?.filter((name) => !known.includes(name)) ?? [];
  if (tools.length > 0 && unknown.length === 0)
    return { handle, tools: tools.filter(({ name }) => setup.names?.includes(name) ?? true) };
  const list = unknown.map((name) => {
    const near = nearestName(name, known);
    return near ? `"${name}" (did you mean "${near}"?)` : `"${name}"`;
  });
  const what =
    tools.length === 0 ? "exports no tool" : `has no tool ${list.join(", ")}; there is ${known.join(", ")}`;
  throw new SpotterError("tool_missing", `${file} ${what}.`, {
    where: tools.length === 0 ? file : "tools.names",
    hint: "Wrap the function: export const add = tool({ description, parameters }, ({ a, b }) => a + b);",
  });
}

/** A tool as chat templates, and so models, are told of it. */
export function toolDefinition(tool: UserCodeExport | EnvironmentMember): ToolDefinition {
  const { name, description = "", parameters = { type: "object" } } = tool;
  return { type: "function", function: { name, description, parameters } };
}
