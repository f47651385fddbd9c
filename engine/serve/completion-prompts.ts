import type { TextModel } from "../onnx/text/text-model.ts";
import { encodePrompt } from "./answer-request.ts";
import { RequestError } from "./request-error.ts";
import { readId, wrongType } from "./token-id.ts";

export interface CompletionPrompt {
  /** As `echo` gives it back; ids are decoded when it is asked for. */
  text: () => string;
  ids: number[];
}

/** Bounds what one request can queue. */
const MAX_PROMPTS = 256;

/**
 * The prompts of a completion request: a text, several, the token ids of one, or of several.
 *
 * @throws RequestError naming the element that is wrong.
 */
export function readPrompts(prompt: unknown, text: TextModel): CompletionPrompt[] {
  if (prompt === undefined || prompt === null) {
    throw new RequestError("Missing required parameter: 'prompt'.", {
      code: "missing_required_parameter",
      param: "prompt",
    });
  }
  if (!Array.isArray(prompt)) return [readOne(prompt, text, "prompt")];
  if (prompt.length === 0) throw empty("prompt", "empty_array");
  const items: unknown[] = prompt;
  if (typeof items[0] === "number") return [readIds(items, text, "prompt")];
  if (items.length > MAX_PROMPTS) {
    throw new RequestError(`Invalid 'prompt': at most ${MAX_PROMPTS} prompts in one request.`, {
      code: "array_above_max_length",
      param: "prompt",
    });
  }
  return items.map((item, index) => readOne(item, text, `prompt[${index}]`));
}

function readOne(prompt: unknown, text: TextModel, path: string): CompletionPrompt {
  if (Array.isArray(prompt)) return readIds(prompt, text, path);
  if (typeof prompt !== "string") throw wrongType(path, "a text or a list of token ids");
  const ids = encodePrompt(prompt, text, "prompt", "encodeDocument");
  if (ids.length === 0) throw empty(path, "invalid_value");
  return { text: () => prompt, ids };
}

function readIds(items: readonly unknown[], text: TextModel, path: string): CompletionPrompt {
  if (items.length === 0) throw empty(path, "empty_array");
  // Before millions of them are looked at.
  if (items.length > text.contextLength) throw tooLong(items.length, text.contextLength);
  const ids = items.map((id, index) => readId(id, text.vocabularySize, `${path}[${index}]`));
  return { text: () => text.tokenizer.decode(ids, { special: true }), ids };
}

function tooLong(tokens: number, contextLength: number): RequestError {
  return new RequestError(
    `This model's maximum context length is ${contextLength} tokens, and the prompt has ${tokens}. Shorten it.`,
    { code: "context_length_exceeded", param: "prompt" },
  );
}

function empty(path: string, code: string): RequestError {
  return new RequestError(`Invalid '${path}': it is empty, and there is nothing to continue.`, {
    code,
    param: path,
  });
}
