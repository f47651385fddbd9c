import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import { RequestError } from "./request-error.ts";

/**
 * Messages as text-only chat templates take them: parts joined to one string, `developer` said as `system`,
 * reasoning as `reasoning_content`, and no `tool_calls` where there are none, for templates ask whether there
 * is the key. Other keys stay.
 */
export function flattenMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message, index) => {
    const { tool_calls: calls, reasoning, reasoning_content: thought, ...rest } = message as Message;
    const said = thought ?? reasoning;
    return {
      ...rest,
      role: message.role === "developer" ? "system" : message.role,
      content: contentOf(message, `messages[${index}].content`),
      ...(typeof said === "string" ? { reasoning_content: said } : {}),
      ...(Array.isArray(calls) && calls.length > 0 ? { tool_calls: calls } : {}),
    };
  });
}

type Message = ChatMessage & Record<"tool_calls" | "reasoning" | "reasoning_content", unknown>;

function contentOf({ content }: ChatMessage, path: string): string | null {
  if (!Array.isArray(content)) return content ?? null;
  return content.map((part, at) => textOf(part, `${path}[${at}]`)).join("");
}

function textOf(part: unknown, path: string): string {
  const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
  if (type === "text" && typeof text === "string") return text;
  throw new RequestError(
    `Invalid '${path}': this model takes text parts only, not ${JSON.stringify(type)}.`,
    {
      code: "invalid_value",
      param: `${path}.type`,
    },
  );
}
