import { badRequest } from "./refused-request.ts";
import {
  boolean,
  invalidValue,
  isObject,
  needArray,
  needObject,
  needText,
  object,
  text,
  tooMany,
  wrongType,
  type Fields,
} from "./check-request-fields.ts";

const MAX_TOOLS = 1024;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const CHOICES = ["none", "auto", "required"];
const FORMATS = ["text", "json_object", "json_schema"];

/** `tools` and `tool_choice` together. An empty list is no list: clients that build it in a loop send it. */
export function checkTools(fields: Fields): void {
  const names = toolNames(fields["tools"]);
  const choice = fields["tool_choice"];
  if (choice !== undefined && choice !== null) checkChoice(choice, names, Array.isArray(fields["tools"]));
  for (const name of ["functions", "function_call"]) {
    if ((fields[name] ?? null) === null) continue;
    const message = `'${name}' is not supported; use 'tools' and 'tool_choice'.`;
    throw badRequest("unsupported_parameter", name, message);
  }
}

export function checkResponseFormat(value: unknown, path: string): void {
  const format = needObject(value, path);
  const type = needText(format["type"], `${path}.type`);
  if (!FORMATS.includes(type)) throw invalidValue(`${path}.type`, type, FORMATS);
  if (type !== "json_schema") return;
  const wanted = needObject(format["json_schema"], `${path}.json_schema`);
  needText(wanted["name"], `${path}.json_schema.name`);
  if ((wanted["schema"] ?? null) !== null) object(wanted["schema"], `${path}.json_schema.schema`);
  if ((wanted["strict"] ?? null) !== null) boolean(wanted["strict"], `${path}.json_schema.strict`);
}

function toolNames(value: unknown): Set<string> {
  const names = new Set<string>();
  if (value === undefined || value === null) return names;
  const tools = needArray(value, "tools");
  if (tools.length > MAX_TOOLS) throw tooMany("tools", tools.length, MAX_TOOLS);
  for (const [index, tool] of tools.entries()) names.add(toolName(tool, `tools[${index}]`));
  return names;
}

function toolName(value: unknown, path: string): string {
  const tool = needObject(value, path);
  const type = needText(tool["type"], `${path}.type`);
  if (type !== "function") throw invalidValue(`${path}.type`, type, ["function"]);
  const at = `${path}.function`;
  const described = needObject(tool["function"], at);
  const name = needText(described["name"], `${at}.name`);
  if (!TOOL_NAME.test(name)) {
    const message = `Invalid '${at}.name': use 1 to 64 letters, digits, underscores or dashes.`;
    throw badRequest("invalid_value", `${at}.name`, message);
  }
  const { description, parameters, strict } = described;
  if ((description ?? null) !== null) text(description, `${at}.description`);
  if ((parameters ?? null) !== null) object(parameters, `${at}.parameters`);
  if ((strict ?? null) !== null) boolean(strict, `${at}.strict`);
  return name;
}

function checkChoice(choice: unknown, names: ReadonlySet<string>, isListed: boolean): void {
  if (typeof choice === "string") {
    if (!CHOICES.includes(choice)) throw invalidValue("tool_choice", choice, CHOICES);
    // Without tools there is nothing to choose: saying "none" is right, and so is "auto" for an empty list.
    if (names.size > 0 || choice === "none" || (choice === "auto" && isListed)) return;
    throw noTools();
  }
  if (!isObject(choice)) throw wrongType("tool_choice", "a string or an object", choice);
  const type = needText(choice["type"], "tool_choice.type");
  if (type !== "function") throw invalidValue("tool_choice.type", type, ["function"]);
  const name = needText(
    needObject(choice["function"], "tool_choice.function")["name"],
    "tool_choice.function.name",
  );
  if (names.size === 0) throw noTools();
  if (names.has(name)) return;
  const message = `Invalid 'tool_choice': there is no tool ${JSON.stringify(name.slice(0, 100))} in 'tools'.`;
  throw badRequest(null, "tool_choice", message);
}

function noTools(): ReturnType<typeof badRequest> {
  return badRequest(null, "tool_choice", "'tool_choice' is only allowed when 'tools' are specified.");
}
