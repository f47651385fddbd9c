import type { ChatDelta } from "../../../sdk/schema/chat.ts";
import type { StreamPart } from "../../../sdk/schema/response-stream.ts";

/** Says the parts of one choice as deltas: a call's id, type and name first, then its arguments. */
export class Deltas {
  readonly #newId: () => string;
  #index = -1;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Usually one; none for the end of a call. */
  of(part: StreamPart): ChatDelta[] {
    switch (part.type) {
      case "content":
        return [{ content: part.text }];
      case "reasoning":
        return [{ reasoning_content: part.text }];
      case "call": {
        const called = { name: part.name, arguments: "" };
        return [
          {
            tool_calls: [
              { index: ++this.#index, id: `call_${this.#newId()}`, type: "function", function: called },
            ],
          },
        ];
      }
      case "arguments":
        return [{ tool_calls: [{ index: this.#index, function: { arguments: part.text } }] }];
      case "call-end":
        return part.rest === "" ? [] : [{ content: part.rest }];
    }
  }
}
