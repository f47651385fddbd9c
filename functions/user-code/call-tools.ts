import type { JobCallResult } from "../../sdk/schema/job.ts";
import type { ToolSetup } from "../../sdk/schema/run-spec.ts";
import { callMembers } from "./environments.ts";
import type { UserCodeDeps } from "./records.ts";
import { openTools } from "./tools.ts";

/**
 * Calls tools of stored code, one result a call. What is no tool is an error of its call: a model that makes a name
 * up must not end the others' calls.
 *
 * @throws SpotterError `tool_missing` if the code exports none; `not_found`, `user_code_invalid`.
 */
export async function callStoredTools(
  deps: UserCodeDeps,
  setup: ToolSetup,
  calls: readonly { tool: string; input?: unknown }[],
  signal?: AbortSignal,
): Promise<JobCallResult[]> {
  const { handle, tools } = await openTools(deps, setup);
  const found = calls.map(({ tool: name, input }) => {
    const tool = tools.find((each) => each.name === name);
    return tool && { name, input, timeoutMs: tool.timeoutMs ?? setup.timeoutMs };
  });
  const known = found.filter((each) => each !== undefined);
  const results = await callMembers(deps, handle, known, signal);
  return calls.map(({ tool }, index) => {
    const call = found[index];
    const result = call && results[known.indexOf(call)];
    if (!result)
      return { error: { code: "tool_missing", message: `there is no tool ${JSON.stringify(tool)}` } };
    if (!("error" in result)) return result;
    return { error: { code: result.error.code, message: result.error.message } };
  });
}
