import { chatRequest, type ChatRequest } from "../../sdk/schema/chat.ts";
import type { ResponseFamily } from "../../sdk/schema/parse-response.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { checkBody } from "./check-body.ts";
import { flattenMessages } from "./flatten-messages.ts";
import { readSampling, type Sampling } from "./read-sampling.ts";
import { RequestError } from "./request-error.ts";

/** A chat or completion request as the engine is asked. */
export interface AnswerRequest extends Sampling {
  family: ResponseFamily;
  /** Take tool calls out of the text. */
  tools: boolean;
  /** The prompt ends inside the reasoning. */
  startsInReasoning: boolean;
}

/** Checks a chat request and renders its prompt. Throws {@link RequestError} or SpotterError. */
export function readChatRequest(body: unknown, text: TextModel): AnswerRequest {
  const request = checkBody(chatRequest, body);
  refuseUnsupported(request);
  if (text.chatTemplate === undefined) {
    throw new RequestError("This model has no chat template; use /v1/completions.", { param: "messages" });
  }
  const tools = request.tool_choice === "none" ? undefined : request.tools;
  const prompt = text.chatTemplate.render(flattenMessages(request.messages), {
    tools,
    variables: request.chat_template_kwargs,
  });
  return {
    ...readSampling(request, [encodePrompt(prompt, text, "messages")], text, "messages"),
    family: text.responseFamily,
    tools: (tools?.length ?? 0) > 0,
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

/** What would change the answer and is not there must be refused, not ignored. */
function refuseUnsupported(request: ChatRequest): void {
  const { tool_choice: choice, response_format: format } = request;
  if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none") {
    throw unsupported("tool_choice", "this engine cannot force a tool call; use 'auto' or 'none'");
  }
  const formatType = format?.type ?? "text";
  if (formatType !== "text") {
    throw unsupported("response_format", `this engine cannot force ${JSON.stringify(formatType)}`);
  }
}

function unsupported(param: string, why: string): RequestError {
  return new RequestError(`Unsupported value for '${param}': ${why}.`, { code: "unsupported_value", param });
}
