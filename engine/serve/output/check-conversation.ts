import type { ChatMessage } from "../../../sdk/schema/rollout.ts";
import { RequestError } from "../request-error.ts";

/** The calls of an assistant's message that wait for their tool messages. */
interface Calls {
  /** Of the message. */
  path: string;
  /** Of those without an answer; undefined for a call that came without one. */
  ids: (string | undefined)[];
}

/**
 * Every tool message answers a call of the assistant's message before it, and every call has its answer. Keys
 * that are not known are left alone: clients send back what they were given.
 *
 * @throws RequestError with the place of what does not belong.
 */
export function checkConversation(messages: readonly ChatMessage[]): void {
  let calls: Calls | undefined;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    checkContent(message, path);
    if (message.role === "tool") answer(calls, message, path);
    else {
      refuseOpen(calls);
      calls = message.role === "assistant" ? callsOf(message, path) : undefined;
    }
  }
  refuseOpen(calls);
}

function checkContent({ role, content }: ChatMessage, path: string): void {
  if (typeof content === "string" || Array.isArray(content) || role === "assistant") return;
  const param = `${path}.content`;
  if (content === undefined) {
    throw new RequestError(`Missing required parameter: '${param}'.`, {
      code: "missing_required_parameter",
      param,
    });
  }
  throw wrongType(param, "a string or a list of parts");
}

function callsOf(message: ChatMessage, path: string): Calls | undefined {
  const { tool_calls: given } = message as { tool_calls?: unknown };
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) throw wrongType(`${path}.tool_calls`, "a list of calls");
  const ids = given.map((call: unknown, index) => idOf(call, `${path}.tool_calls[${index}]`));
  return ids.length === 0 ? undefined : { path, ids };
}

function idOf(call: unknown, path: string): string | undefined {
  const { id, function: called } = (call ?? {}) as {
    id?: unknown;
    function?: Record<string, unknown> | null;
  };
  if (typeof called !== "object" || called === null) throw wrongType(`${path}.function`, "an object");
  if (typeof called["name"] !== "string") throw wrongType(`${path}.function.name`, "a string");
  if (typeof called["arguments"] !== "string")
    throw wrongType(`${path}.function.arguments`, "a string of JSON");
  if (id === undefined || typeof id === "string") return id;
  throw wrongType(`${path}.id`, "a string");
}

function answer(calls: Calls | undefined, message: ChatMessage, path: string): void {
  const { tool_call_id: id } = message as { tool_call_id?: unknown };
  if (calls === undefined)
    throw misplaced(path, "a message of role 'tool' must follow one with 'tool_calls'");
  const at = calls.ids.findIndex((each) => each === undefined || id === undefined || each === id);
  if (at < 0)
    throw misplaced(path, `'tool_call_id' ${JSON.stringify(id)} is not among the 'tool_calls' before it`);
  calls.ids.splice(at, 1);
}

function refuseOpen(calls: Calls | undefined): void {
  if (calls === undefined || calls.ids.length === 0) return;
  const why = `a message with 'tool_calls' must be followed by one of role 'tool' for each`;
  throw misplaced(calls.path, `${why}; ${calls.ids.length} of them have no answer`);
}

function misplaced(path: string, why: string): RequestError {
  return new RequestError(`Invalid '${path}': ${why}.`, { param: `${path}.role` });
}

function wrongType(param: string, expected: string): RequestError {
  return new RequestError(`Invalid '${param}': expected ${expected}.`, { code: "invalid_type", param });
}
