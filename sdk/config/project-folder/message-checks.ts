import { isObject, kindOf, type Report, type RowContext } from "./row-context.ts";
import { contentChecks, lengthOf } from "./content-checks.ts";

const ROLES = ["system", "user", "assistant", "tool"];
const OTHER_ROLES: Record<string, string> = {
  developer: "system",
  function: "tool",
  human: "user",
  gpt: "assistant",
  model: "assistant",
  bot: "assistant",
};
/** Of text in most languages; only for a word of warning. */
const CHARACTERS_PER_TOKEN = 4;

/** The conversation of a row: its shape, the order of its turns, its length. */
export function messageChecks(row: Record<string, unknown>, context: RowContext, report: Report): void {
  const { messages } = row;
  if (!Array.isArray(messages) || messages.length === 0) {
    const isMissing = messages === undefined;
    const what = isMissing
      ? "is missing"
      : Array.isArray(messages)
        ? "is empty"
        : `is ${kindOf(messages)}, expected a list`;
    const isText = isMissing && typeof row.text === "string";
    const hint = isText
      ? "Write dataset_type: midtrain for rows with text."
      : 'Write "messages": [{"role": "user", "content": "..."}].';
    return report({ code: "row_invalid", path: ["messages"], message: what, hint });
  }
  let characters = 0;
  let isSound = true;
  for (let index = 0; index < messages.length; index++) {
    const message: unknown = messages[index];
    if (!isObject(message)) {
      report({
        code: "row_invalid",
        path: ["messages", index],
        message: `is ${kindOf(message)}, expected an object with role and content`,
        hint: 'Write {"role": "user", "content": "..."}.',
      });
      isSound = false;
      continue;
    }
    isSound = roleCheck(message, index, report) && isSound;
    contentChecks(message, index, context, report);
    characters += lengthOf(message.content);
  }
  if (!isSound) return;
  order(messages as Record<string, unknown>[], context, report);
  toolTurns(messages as Record<string, unknown>[], report);
  const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  if (tokens > context.window)
    report({
      code: "row_long",
      severity: "warning",
      path: ["messages"],
      message: `has about ${tokens} tokens (${characters} characters); ${context.window} fit`,
      hint: "Shorten the row, or raise rollout.max_context_window.",
    });
}

function roleCheck(message: Record<string, unknown>, index: number, report: Report): boolean {
  const { role } = message;
  if (typeof role === "string" && ROLES.includes(role)) return true;
  const near = typeof role === "string" && Object.hasOwn(OTHER_ROLES, role) ? OTHER_ROLES[role] : undefined;
  report({
    code: "row_invalid",
    path: ["messages", index, "role"],
    message:
      role === undefined
        ? "is missing"
        : typeof role === "string"
          ? `"${role}" is no role`
          : `is ${kindOf(role)}`,
    hint: near ? `Write ${near}.` : "Write system, user, assistant or tool.",
  });
  return false;
}

function order(messages: readonly Record<string, unknown>[], context: RowContext, report: Report): void {
  let hasUser = false;
  let hasAssistant = false;
  for (let index = 0; index < messages.length; index++) {
    const role = messages[index]?.role;
    hasUser ||= role === "user";
    hasAssistant ||= role === "assistant";
    if (role === "system" && index > 0)
      report({
        code: "row_order",
        path: ["messages", index, "role"],
        message: "a system message comes first, or not at all",
        hint: "Move it to the front.",
      });
  }
  if (!hasUser)
    report({
      code: "row_order",
      path: ["messages"],
      message: "no message is the user's: there is nothing to answer",
      hint: 'Add {"role": "user", "content": "..."}.',
    });
  if (context.kind === "sft" && !hasAssistant)
    report({
      code: "row_order",
      path: ["messages"],
      message: "no message is the assistant's: there is nothing to learn",
      hint: 'Add {"role": "assistant", "content": "..."}.',
    });
  const last = messages.length - 1;
  if (context.kind !== "sft" && messages[last]?.role === "assistant")
    report({
      code: "row_order",
      severity: "warning",
      path: ["messages", last, "role"],
      message: "the assistant has the last word already: the model would answer itself",
      hint: "End with the user's message; known answers go to metadata.",
    });
}

/** Calls of tools and their results belong together. */
function toolTurns(messages: readonly Record<string, unknown>[], report: Report): void {
  let open: Set<unknown> | undefined;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] ?? {};
    if (message.tool_calls !== undefined && message.tool_calls !== null) {
      open ??= new Set();
      calls(message.tool_calls, index, open, report);
    }
    if (message.role !== "tool") continue;
    const id = message.tool_call_id;
    if (typeof id === "string" && open?.has(id)) continue;
    const isMissing = id === undefined;
    report({
      code: "row_tool_turn",
      path: isMissing ? ["messages", index] : ["messages", index, "tool_call_id"],
      message: isMissing ? "a tool's result has no tool_call_id" : "belongs to no call before it",
      hint: 'Give the call an "id" and its result the same "tool_call_id".',
    });
  }
}

function calls(value: unknown, index: number, open: Set<unknown>, report: Report): void {
  const path = ["messages", index, "tool_calls"];
  if (!Array.isArray(value)) {
    const hint = 'Write [{"id": "1", "type": "function", "function": {"name": "...", "arguments": "{}"}}].';
    return report({ code: "row_tool_turn", path, message: `is ${kindOf(value)}, expected a list`, hint });
  }
  for (let at = 0; at < value.length; at++) {
    const call: unknown = value[at];
    const detail = isObject(call) ? call.function : undefined;
    if (!isObject(call) || !isObject(detail) || typeof detail.name !== "string") {
      const hint = 'Write {"id": "1", "type": "function", "function": {"name": "...", "arguments": "{}"}}.';
      report({ code: "row_tool_turn", path: [...path, at], message: "names no function", hint });
      continue;
    }
    if (call.id !== undefined) open.add(call.id);
    const { arguments: given } = detail;
    const argumentsPath = [...path, at, "function", "arguments"];
    if (isObject(given))
      report({
        code: "row_tool_turn",
        severity: "warning",
        path: argumentsPath,
        message: "is an object; it is read as the text that it would be",
        hint: "Write it as a text of JSON, as APIs return it.",
      });
    else if (typeof given !== "string" || !isJson(given))
      report({
        code: "row_tool_turn",
        path: argumentsPath,
        message: given === undefined ? "is missing" : "is no text of JSON",
        hint: 'Write "{}" where there are none.',
      });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
