import { SpotterError } from "../../sdk/schema/errors.ts";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { parseResponse } from "../../sdk/schema/parse-response.ts";
import type { ChatMessage, ParsedResponse } from "../../sdk/schema/rollout.ts";
import type { ChatTemplate } from "../onnx/text/chat-template.ts";
import type { TextModel } from "../onnx/text/text-model.ts";

/** Dataset rows to token ids and sampled ids to text, for one model and one set of template variables. */
export interface PromptCodec {
  /** Rendered once a row. */
  promptIds(row: DatasetRow): number[];
  /** What the model should answer, up to and including the token that ends its turn. */
  completionIds(row: DatasetRow, completion: string): number[];
  /** Without control tokens. */
  decode(ids: readonly number[]): string;
  parse(text: string): ParsedResponse;
  stopIds: number[];
  contextLength: number;
}

/** @throws SpotterError `model_unsupported` when the model has no chat template. */
export function createPromptCodec(model: TextModel, variables: Record<string, unknown>): PromptCodec {
  const { chatTemplate, tokenizer, stopIds } = model;
  if (chatTemplate === undefined) throw noTemplate();
  const known = new Map<DatasetRow, number[]>();
  return {
    promptIds: (row) => {
      const ids = known.get(row) ?? tokenizer.encode(promptText(chatTemplate, row, variables));
      known.set(row, ids);
      return ids;
    },
    completionIds: (row, completion) => {
      const ids = tokenizer.encode(answerText(chatTemplate, row, completion, variables));
      const end = ids.findIndex((id) => stopIds.includes(id));
      // Sampling stops at the end of the turn, so what a template writes after it is never learnt.
      return end === -1 ? [...ids, ...stopIds.slice(0, 1)] : ids.slice(0, end + 1);
    },
    decode: (ids) => tokenizer.decode(ids),
    parse: (text) => parseResponse(text, model.responseFamily),
    stopIds,
    contextLength: model.contextLength,
  };
}

function promptText(template: ChatTemplate, row: DatasetRow, variables: Record<string, unknown>): string {
  return template.render(row.prompt as ChatMessage[], { variables });
}

/**
 * What the template writes after the prompt for an answer. Some templates rewrite the last answer (they
 * drop or insert reasoning); then the prompt is no prefix and the bare completion is what can be sampled.
 */
function answerText(
  template: ChatTemplate,
  row: DatasetRow,
  completion: string,
  variables: Record<string, unknown>,
): string {
  const prompt = promptText(template, row, variables);
  const messages = [...(row.prompt as ChatMessage[]), { role: "assistant", content: completion } as const];
  const whole = template.render(messages, { variables, addGenerationPrompt: false });
  return whole.startsWith(prompt) ? whole.slice(prompt.length) : completion;
}

function noTemplate(): SpotterError {
  return new SpotterError(
    "model_unsupported",
    "The model has no chat template, so no prompt can be written.",
    {
      hint: "Add chat_template.jinja to the model folder, or use an instruction-tuned model.",
    },
  );
}
