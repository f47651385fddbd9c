import type { ChatRequest } from "../../../sdk/schema/chat.ts";
import { RequestError } from "../request-error.ts";

export type ChatTool = NonNullable<ChatRequest["tools"]>[number];

/** Which tools an answer may, or must, call. */
export interface ToolUse {
  /** What the template is told of; a choice of none keeps them from it. */
  tools: readonly ChatTool[];
  /** Tools of which one has to be called. Absent: none has to. */
  forced?: readonly ChatTool[];
  /** One tool was asked for by name. */
  named: boolean;
  /** At most one call. */
  single: boolean;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** `tools`, `tool_choice` and `parallel_tool_calls`. Throws {@link RequestError}. */
export function readToolUse(request: ChatRequest): ToolUse {
  refuseFunctions(request);
  const tools = request.tools ?? [];
  for (const [index, { function: described }] of tools.entries()) {
    if (NAME.test(described.name)) continue;
    const param = `tools[${index}].function.name`;
    const message = `Invalid '${param}': use 1 to 64 letters, digits, underscores or dashes.`;
    throw new RequestError(message, { code: "invalid_value", param });
  }
  const choice = request.tool_choice ?? (tools.length > 0 ? "auto" : "none");
  const single = request.parallel_tool_calls === false;
  if (choice === "none") return { tools: [], named: false, single };
  if (choice === "auto") {
    if (request.tools) return { tools, named: false, single };
    throw noTools();
  }
  if (tools.length === 0) throw noTools();
  if (choice === "required") return { tools, forced: tools, named: false, single };
  const { name } = choice.function;
  const wanted = tools.find((tool) => tool.function.name === name);
  if (wanted === undefined) {
    const message = `Invalid 'tool_choice': there is no tool ${JSON.stringify(name.slice(0, 100))} in 'tools'.`;
    throw new RequestError(message, { param: "tool_choice" });
  }
  return { tools, forced: [wanted], named: true, single: true };
}

function refuseFunctions(request: Record<string, unknown>): void {
  for (const name of ["functions", "function_call"]) {
    if ((request[name] ?? null) === null) continue;
    const message = `'${name}' is not supported; use 'tools' and 'tool_choice'.`;
    throw new RequestError(message, { code: "unsupported_parameter", param: name });
  }
}

function noTools(): RequestError {
  return new RequestError("'tool_choice' is only allowed when 'tools' are specified.", {
    param: "tool_choice",
  });
}
