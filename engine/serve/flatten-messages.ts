import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import { RequestError } from "./request-error.ts";

/**
 * Messages as text-only chat templates take them: parts joined to one string, `developer` said as `system`.
 * Other keys (tool calls, reasoning) stay.
 */
export function flattenMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message, index) => {
    const role = message.role === "developer" ? "system" : message.role;
    if (!Array.isArray(message.content)) return { ...message, role };
    const parts = message.content.map((part, at) => textOf(part, `messages[${index}].content[${at}]`));
    return { ...message, role, content: parts.join("") };
  });
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
