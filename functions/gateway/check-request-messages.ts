import { badRequest, type RefusedRequest } from "./refused-request.ts";
import {
  emptyArray,
  invalidValue,
  isObject,
  missing,
  needArray,
  needObject,
  needText,
  wrongType,
  type Fields,
} from "./check-request-fields.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];
/** An answer without text has at least one of these. */
const INSTEAD_OF_CONTENT = [
  "tool_calls",
  "function_call",
  "refusal",
  "audio",
  "reasoning_content",
  "reasoning",
];

export interface OtherPart {
  path: string;
  type: string;
}

/**
 * Checks the messages of a chat, in which every tool message answers a call and every call has its answer.
 * Unknown keys of a message stay unknown: clients send back what they were given. Returns the first part that
 * is not text: engines differ in what else they take.
 */
export function checkMessages(value: unknown): OtherPart | undefined {
  const messages = needArray(value, "messages");
  if (messages.length === 0) throw emptyArray("messages");
  let other: OtherPart | undefined;
  let calls: Calls | undefined;
  for (const [index, given] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(given)) throw wrongType(path, "an object", given);
    const role = roleOf(given, path);
    const otherHere = checkContent(given, role, path);
    other ??= otherHere;
    if (role === "tool") answerCall(calls, given, path);
    else {
      refuseUnanswered(calls);
      calls = role === "assistant" ? callsOf(given, path) : undefined;
    }
  }
  refuseUnanswered(calls);
  return other;
}

/** The calls of an assistant's message. */
interface Calls {
  path: string;
  ids: Set<string>;
  open: Set<string>;
}

function roleOf(message: Fields, path: string): string {
  const role = needText(message["role"], `${path}.role`);
  if (!ROLES.includes(role)) throw invalidValue(`${path}.role`, role, ROLES);
  return role;
}

function checkContent(message: Fields, role: string, path: string): OtherPart | undefined {
  const content = message["content"];
  if (typeof content === "string") return undefined;
  const at = `${path}.content`;
  if (Array.isArray(content)) return checkParts(content, at);
  const isNothing = content === null || content === undefined;
  if (!isNothing) throw wrongType(at, "a string or an array of parts", content);
  if (role === "assistant" && INSTEAD_OF_CONTENT.some((key) => (message[key] ?? null) !== null))
    return undefined;
  throw content === null ? wrongType(at, "a string or an array of parts", null) : missing(at);
}

function checkParts(parts: unknown[], path: string): OtherPart | undefined {
  let other: OtherPart | undefined;
  for (const [index, part] of parts.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(part)) throw wrongType(at, "an object", part);
    const type = needText(part["type"], `${at}.type`);
    if (type === "text") needText(part["text"], `${at}.text`);
    else other ??= { path: `${at}.type`, type };
    if (type === "image_url")
      needText(needObject(part["image_url"], `${at}.image_url`)["url"], `${at}.image_url.url`);
  }
  return other;
}

function callsOf(message: Fields, path: string): Calls | undefined {
  const given = message["tool_calls"];
  if (given === undefined || given === null) return undefined;
  const ids = needArray(given, `${path}.tool_calls`).map((call, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const fields = needObject(call, at);
    const id = needText(fields["id"], `${at}.id`);
    const called = needObject(fields["function"], `${at}.function`);
    needText(called["name"], `${at}.function.name`);
    needText(called["arguments"], `${at}.function.arguments`);
    return id;
  });
  return ids.length === 0 ? undefined : { path, ids: new Set(ids), open: new Set(ids) };
}

function answerCall(calls: Calls | undefined, message: Fields, path: string): void {
  const id = needText(message["tool_call_id"], `${path}.tool_call_id`);
  if (calls === undefined)
    throw misplaced(path, "a message of role 'tool' must follow one with 'tool_calls'");
  if (!calls.ids.has(id))
    throw misplaced(path, `'tool_call_id' ${JSON.stringify(id)} is not among the 'tool_calls' before it`);
  calls.open.delete(id);
}

function refuseUnanswered(calls: Calls | undefined): void {
  if (calls === undefined || calls.open.size === 0) return;
  const ids = [...calls.open].slice(0, 10).join(", ");
  throw misplaced(
    calls.path,
    `a message with 'tool_calls' must be followed by one of role 'tool' for each; without answer are: ${ids}`,
  );
}

function misplaced(path: string, why: string): RefusedRequest {
  return badRequest(null, `${path}.role`, `Invalid '${path}': ${why}.`);
}
