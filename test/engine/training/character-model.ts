import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";

export const EOS = 1;
const START = 2;

/**
 * A text model of one token a character, with a chat template of the usual form:
 * `<user>…<end><assistant>…<end>`, where `^` begins the answer and `$` (the stop token) ends it.
 */
export const characterModel = {
  tokenizer: {
    encode: (text: string) =>
      [...text].map((character) =>
        character === "$" ? EOS : character === "^" ? START : character.charCodeAt(0),
      ),
    mayFit: (text: string, maxTokens: number) => text.length <= maxTokens,
    decode: (ids: readonly number[]) => String.fromCharCode(...ids.filter((id) => id > START)),
  },
  chatTemplate: new ChatTemplate(
    "{%- for m in messages -%}{%- if m.role == 'assistant' -%}^{{ m.content }}$\n{%- else -%}{{ m.content }}|{%- endif -%}{%- endfor -%}" +
      "{%- if add_generation_prompt -%}^{%- endif -%}",
  ),
  responseFamily: "plain" as const,
  stopIds: [EOS],
  contextLength: 64,
};
