import type { ChatAssistantMessage, ChatFinishReason, ChatToolCall } from "../../../sdk/schema/chat.ts";
import type { StreamPart } from "../../../sdk/schema/response-stream.ts";

/** Puts the parts of one choice together to a message. */
export class MessageBuilder {
  readonly #newId: () => string;
  readonly #calls: ChatToolCall[] = [];
  #content = "";
  #reasoning = "";

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** `finish` is known with the last parts. */
  take(part: StreamPart, finish: ChatFinishReason | undefined): void {
    switch (part.type) {
      case "content":
        this.#content += part.text;
        return;
      case "reasoning":
        this.#reasoning += part.text;
        return;
      case "call": {
        const called = { name: part.name, arguments: "" };
        this.#calls.push({ id: `call_${this.#newId()}`, type: "function", function: called });
        return;
      }
      case "arguments": {
        const call = this.#calls.at(-1);
        if (call !== undefined) call.function.arguments += part.text;
        return;
      }
      case "call-end":
        // A call that ran out of tokens is one all the same: `length` says what became of it.
        if (part.how === "complete" || (part.how === "cut" && finish === "length")) return;
        this.#calls.pop();
        this.#content += part.raw;
    }
  }

  message(): ChatAssistantMessage {
    return {
      role: "assistant",
      content: this.#content === "" && this.#calls.length > 0 ? null : this.#content,
      refusal: null,
      ...(this.#reasoning === "" ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
    };
  }
}
