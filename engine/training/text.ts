import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { ResponseParser } from "../../sdk/schema/parse-response.ts";
import type { ChatMessage, ParsedResponse } from "../../sdk/schema/rollout.ts";
import type { ToolDefinition } from "../../sdk/schema/job.ts";
import type { LearnRole } from "../../sdk/schema/sft-algorithm.ts";
import type { ChatTemplate, RenderOptions } from "../onnx/text/chat-template.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { learntTurns } from "./learnt-turns.ts";
import { flattenMessages } from "../serve/flatten-messages.ts";

/** Dataset rows to token ids and sampled ids to text, for one model and one set of template variables. */
export interface PromptCodec {
  /** Rendered once a row. Throws `context_length_exceeded` where no token of an answer would fit. */
  promptIds(row: DatasetRow): number[];
  /** The same of a row, with the text that was rendered. */
  promptOf(row: DatasetRow): Prompt;
  /** A conversation up to where the model answers. Throws as `promptIds`. */
  conversation(messages: readonly ChatMessage[], tools?: readonly unknown[]): Prompt;
  /**
   * What follows an answer of the model up to where it answers again: messages that were said meanwhile, or none.
   * `ended`: the answer's last token ended its turn, so that token is not repeated.
   */
  continuation(said: readonly ChatMessage[], ended: boolean, tools?: readonly unknown[]): Prompt;
  /** Token ids of a text within a message, to measure or cut it. */
  textIds(text: string): number[];
  /** Takes an answer apart that follows this text. */
  parseAfter(prompt: string, text: string): ParsedResponse;
  /** What the model should answer, up to and including the token that ends its turn. Throws as `promptIds`. */
  completionIds(row: DatasetRow, completion: string): number[];
  /** A row's whole conversation, and which of its tokens are of these roles. Throws as `promptIds`. */
  learntTurns(row: DatasetRow, roles: readonly LearnRole[]): { ids: number[]; mask: number[] };
  /** Without control tokens. */
  decode(ids: readonly number[]): string;
  /** Takes the answer to a row apart, as serving does. */
  parse(row: DatasetRow, text: string): ParsedResponse;
  stopIds: number[];
  /** What stands behind a text that is learnt whole. */
  endId: number;
  contextLength: number;
}

/** What rows alone need. */
export type RowCodec = Pick<
  PromptCodec,
  "promptIds" | "completionIds" | "learntTurns" | "textIds" | "endId" | "contextLength"
>;

export interface Prompt {
  text: string;
  ids: number[];
}

/** What needs a chat template throws `model_unsupported` where the model has none. */
export function createPromptCodec(
  model: TextModel,
  variables: Record<string, unknown>,
  tools: readonly ToolDefinition[] = [],
): PromptCodec {
  const { tokenizer, stopIds, contextLength } = model;
  const known = new Map<DatasetRow, Prompt>();

  function promptOf(row: DatasetRow): Prompt {
    const before = known.get(row);
    if (before !== undefined) return before;
    const text =
      row.chatTemplate === false
        ? bareText(row)
        : template().render(messagesOf(row), { variables, tools: toolsOf(row, tools) });
    const prompt = fitting(text);
    known.set(row, prompt);
    return prompt;
  }

  function fitting(text: string): Prompt {
    const prompt = { text, ids: encode(text) };
    if (prompt.ids.length >= contextLength) throw tooLong(contextLength);
    return prompt;
  }

  function parseAfter(prompt: string, text: string): ParsedResponse {
    const startsInReasoning = prompt.trimEnd().endsWith("<think>");
    return parsed(new ResponseParser({ family: model.responseFamily, startsInReasoning }), text);
  }

  return {
    promptIds: (row) => promptOf(row).ids,
    promptOf,
    conversation: (messages, known) =>
      fitting(template().render(flattenMessages([...messages]), { variables, tools: known })),
    continuation: (said, ended, known) => {
      const text = textAfterAnswer(template(), flattenMessages([...said]), { variables, tools: known });
      const ids = encode(text);
      return { text, ids: ended && stopIds.includes(ids[0] ?? -1) ? ids.slice(1) : ids };
    },
    textIds: (text) => tokenizer.encode(text),
    parseAfter,
    completionIds: (row, completion) => {
      const ids = encode(
        row.chatTemplate === false
          ? completion
          : answerText(template(), promptOf(row).text, messagesOf(row), completion, variables),
      );
      const end = ids.findIndex((id) => stopIds.includes(id));
      // Sampling stops at the end of the turn, so what a template writes after it is never learnt.
      return end === -1 ? [...ids, ...stopIds.slice(0, 1)] : ids.slice(0, end + 1);
    },
    learntTurns: (row, roles) => {
      const { completion } = row;
      const answer = completion === undefined ? [] : [{ role: "assistant", content: completion } as const];
      return learntTurns({
        messages: [...messagesOf(row), ...answer],
        roles,
        render: (messages, addGenerationPrompt) =>
          template().render(messages, { variables, tools: toolsOf(row, tools), addGenerationPrompt }),
        encode,
        stopIds,
      });
    },
    decode: (ids) => tokenizer.decode(ids),
    parse: (row, text) => parseAfter(promptOf(row).text, text),
    stopIds,
    endId: endOf(model),
    contextLength,
  };

  function template(): ChatTemplate {
    if (model.chatTemplate === undefined) throw noTemplate();
    return model.chatTemplate;
  }

  function encode(text: string): number[] {
    if (tokenizer.mayFit(text, contextLength)) return tokenizer.encode(text);
    throw tooLong(contextLength);
  }
}

/** The token that ends a text: a stop token that no chat template writes behind a turn, where there is one. */
function endOf({ tokenizer, stopIds, chatTemplate }: TextModel): number {
  const isOfChat = (id: number): boolean =>
    chatTemplate?.source.includes(tokenizer.decode([id], { special: true })) === true;
  return stopIds.find((id) => !isOfChat(id)) ?? stopIds[0] ?? 0;
}

function tooLong(contextLength: number): SpotterError {
  return new SpotterError(
    "context_length_exceeded",
    `A row has more than the ${contextLength} tokens the model takes.`,
    { hint: "Shorten it, or use a model with a longer context." },
  );
}

/** What a row without the chat template asks: its messages' texts as they stand, a blank line between them. */
function bareText(row: DatasetRow): string {
  return messagesOf(row)
    .map(({ content }) => (typeof content === "string" ? content : ""))
    .join("\n\n");
}

/** Messages as text-only templates take them, exactly as a served model sees them. */
function messagesOf(row: DatasetRow): ChatMessage[] {
  try {
    return flattenMessages(row.prompt as ChatMessage[]);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SpotterError("dataset_invalid", `A prompt cannot be used: ${why}`, {
      where: "prompt",
      hint: "Use text, or a model that takes other parts.",
      cause,
    });
  }
}

/**
 * What the template writes after the prompt for an answer. Some templates rewrite the last answer (they
 * drop or insert reasoning); then the prompt is no prefix and the bare completion is what can be sampled.
 */
function answerText(
  template: ChatTemplate,
  prompt: string,
  messages: ChatMessage[],
  completion: string,
  variables: Record<string, unknown>,
): string {
  const answered = [...messages, { role: "assistant", content: completion } as const];
  const whole = template.render(answered, { variables, addGenerationPrompt: false });
  return whole.startsWith(prompt) ? whole.slice(prompt.length) : completion;
}

/** Stands for an answer of the model: no template changes it, and no conversation holds it. */
const ANSWER = "SPOTTER-ANSWER-9d1f";

/**
 * What a template writes behind an answer, whatever the answer was: what the model sampled stays as it is, token
 * for token, and only what is new is encoded.
 */
function textAfterAnswer(template: ChatTemplate, said: ChatMessage[], options: RenderOptions): string {
  const whole = template.render(
    [{ role: "user", content: "?" }, { role: "assistant", content: ANSWER }, ...said],
    options,
  );
  const at = whole.lastIndexOf(ANSWER);
  if (at !== -1) return whole.slice(at + ANSWER.length);
  throw new SpotterError("model_unsupported", "The model's chat template drops earlier answers.", {
    hint: "Conversations of several turns need a template that keeps them.",
  });
}

/** The tools of the run that a row allows. */
function toolsOf(row: DatasetRow, tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const { tools: names } = row;
  return names === undefined ? tools : tools.filter((tool) => names.includes(tool.function.name));
}

function parsed(parser: ResponseParser, text: string): ParsedResponse {
  const response: ParsedResponse = { content: "", reasoning: "", toolCalls: [] };
  for (const part of [...parser.push(text), ...parser.end()]) {
    if (part.type === "content") response.content += part.text;
    else if (part.type === "reasoning") response.reasoning += part.text;
    else response.toolCalls.push(part.call);
  }
  return response;
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
