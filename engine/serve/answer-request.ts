import { chatRequest } from "../../sdk/schema/chat.ts";
import type { ResponseFamily, ResponseStreamOptions } from "../../sdk/schema/response-stream.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { checkBody } from "./check-body.ts";
import { flattenMessages } from "./flatten-messages.ts";
import { answerGrammar } from "./output/answer-grammar.ts";
import { checkConversation } from "./output/check-conversation.ts";
import { formatGrammar } from "./output/format-grammar.ts";
import { readToolUse } from "./output/tool-choice.ts";
import { readSampling, type Sampling } from "./read-sampling.ts";
import { RequestError } from "./request-error.ts";
import { refuseDeep } from "./too-deep.ts";

/** A chat or completion request as the engine is asked, and how what it says is read. */
export interface AnswerRequest extends Sampling, ResponseStreamOptions {
  family: ResponseFamily;
  /** A tool was asked for by name, so that a call is no news: the answer ends with `stop`. Default: false. */
  named?: boolean;
}

/** Checks a chat request and renders its prompt. Throws {@link RequestError} or SpotterError. */
export function readChatRequest(body: unknown, text: TextModel): AnswerRequest {
  const request = checkBody(chatRequest, body);
  refuseDeep(request);
  const use = readToolUse(request);
  checkConversation(request.messages);
  const { chatTemplate } = text;
  if (chatTemplate === undefined) {
    throw new RequestError("This model has no chat template; use /v1/completions.", { param: "messages" });
  }
  const prompt = chatTemplate.render(flattenMessages(request.messages), {
    tools: use.tools,
    variables: request.chat_template_kwargs,
  });
  const sampling = readSampling(request, [encodePrompt(prompt, text, "messages")], text, "messages");
  const format = formatGrammar(request);
  const grammar = answerGrammar(request, format, use, { template: chatTemplate, prompt });
  return {
    ...sampling,
    generate: { ...sampling.generate, ...(grammar && { grammar }) },
    family: text.responseFamily,
    tools: use.tools.length > 0,
    toolNames: use.tools.map((tool) => tool.function.name),
    single: use.tools.length > 0 && use.single,
    named: use.named,
    // In what was asked for, a tag is a string like any other.
    tagsFirst: format !== undefined,
    startsInReasoning: prompt.trimEnd().endsWith("<think>"),
  };
}

/** Token ids of a rendered prompt; what cannot fit is refused before the work of encoding it. */
export function encodePrompt(
  prompt: string,
  { tokenizer, contextLength }: TextModel,
  param: string,
  encode: "encode" | "encodeDocument" = "encode",
): number[] {
  if (tokenizer.mayFit(prompt, contextLength)) return tokenizer[encode](prompt);
  throw new RequestError(
    `This model's maximum context length is ${contextLength} tokens, and the prompt of ` +
      `${Buffer.byteLength(prompt)} bytes has far more. Shorten it.`,
    { code: "context_length_exceeded", param },
  );
}
