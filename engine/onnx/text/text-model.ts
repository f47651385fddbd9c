import { responseFamilyOf, type ResponseFamily } from "../../../sdk/schema/parse-response.ts";
import { ChatTemplate } from "./chat-template.ts";
import { readModelTexts } from "./model-texts.ts";
import { Tokenizer } from "./tokenizer.ts";

/** Everything about a model that turns text into tokens and back. */
export interface TextModel {
  tokenizer: Tokenizer;
  /** Absent: the model is not made for chat. */
  chatTemplate: ChatTemplate | undefined;
  responseFamily: ResponseFamily;
  /** Tokens that end an answer. */
  stopIds: number[];
  /** Longest sequence, prompt and completion, in tokens. */
  contextLength: number;
  /** Token ids go from 0 to one less. */
  vocabularySize: number;
}

/**
 * Reads tokenizer, chat template and stop tokens of a model folder, or of a GGUF file.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`, naming the file.
 */
export async function loadTextModel(modelDir: string): Promise<TextModel> {
  const texts = await readModelTexts(modelDir);
  const tokenizer = new Tokenizer(texts.tokenizer, texts.tokenizerConfig, texts.tokenizerFile);
  const { special } = texts;
  const chatTemplate = texts.chatTemplate ? new ChatTemplate(texts.chatTemplate, special) : undefined;
  const eos = special["eos_token"] === undefined ? undefined : tokenizer.idOf(special["eos_token"]);
  return {
    tokenizer,
    chatTemplate,
    responseFamily: chatTemplate === undefined ? "plain" : responseFamilyOf(chatTemplate.source),
    stopIds: [...new Set([...texts.endIds, ...(eos === undefined ? [] : [eos])])],
    contextLength: texts.contextLength ?? 2048,
    vocabularySize: texts.vocabularySize ?? Infinity,
  };
}
