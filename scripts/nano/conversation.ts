import type { ChatTemplate } from "../../engine/onnx/text/chat-template.ts";
import type { TextModel } from "../../engine/onnx/text/text-model.ts";

/** A chat to learn from or to continue; what a chat template is rendered with. */
export interface Conversation {
  messages: Message[];
  tools?: readonly unknown[];
  isThinking?: boolean;
}

// An alias and not an interface: only aliases fit the index signature of wire messages.
export type Message = {
  role: "user" | "assistant" | "tool";
  content: string;
  reasoning_content?: string;
  tool_calls?: { function: { name: string; arguments: Record<string, unknown> } }[];
};

export function ask(question: string): Conversation {
  return { messages: [{ role: "user", content: question }] };
}

export function exchange(question: string, answer: string): Conversation {
  return { messages: [...ask(question).messages, { role: "assistant", content: answer }] };
}

/** The conversation as text; with `isPrompt`, up to where the model takes over. */
export function render(template: ChatTemplate, conversation: Conversation, isPrompt = false): string {
  const { messages, tools, isThinking } = conversation;
  return template.render(messages, {
    tools,
    variables: isThinking ? { enable_thinking: true } : {},
    addGenerationPrompt: isPrompt,
  });
}

export function chatTemplateOf({ chatTemplate }: TextModel): ChatTemplate {
  if (!chatTemplate) throw new TypeError("The model has no chat template");
  return chatTemplate;
}
