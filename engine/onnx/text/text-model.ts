import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { describeIssue } from "../../../sdk/schema/describe-issue.ts";
import { responseFamilyOf, type ResponseFamily } from "../../../sdk/schema/parse-response.ts";
import { readModelText } from "../weights/model-file.ts";
import { ChatTemplate, type ChatTemplateSource } from "./chat-template.ts";
import { readGgufFolder, type GgufFolder } from "./gguf-folder.ts";
import { readObject, Tokenizer } from "./tokenizer.ts";

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

const tokenText = z.union([z.string(), z.looseObject({ content: z.string() })]);
const ids = z.union([z.number(), z.array(z.number())]);
const configJson = z.looseObject({
  eos_token_id: z.nullish(ids),
  max_position_embeddings: z.nullish(z.number()),
  vocab_size: z.nullish(z.number()),
});
const tokenizerConfigJson = z.looseObject({
  chat_template: z.nullish(
    z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]),
  ),
  bos_token: z.nullish(tokenText),
  eos_token: z.nullish(tokenText),
  pad_token: z.nullish(tokenText),
  unk_token: z.nullish(tokenText),
});

/**
 * Reads tokenizer, chat template and stop tokens of a model folder, or of a GGUF file.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`, naming the file.
 */
export async function loadTextModel(modelDir: string): Promise<TextModel> {
  const gguf = await readGgufFolder(modelDir);
  const at = (name: string): string => (gguf === undefined ? join(modelDir, name) : `${gguf.path}: ${name}`);
  const read = (name: keyof GgufFolder, fallback?: object): Promise<object> | object =>
    gguf === undefined ? readObject(at(name), fallback) : gguf.files[name];
  const [tokenizerJson, rawTokenizerConfig, rawConfig, rawGeneration, templateFile] = await Promise.all([
    read("tokenizer.json"),
    read("tokenizer_config.json", {}),
    read("config.json"),
    read("generation_config.json", {}),
    gguf === undefined ? templateOf(at("chat_template.jinja")) : undefined,
  ]);
  const tokenizer = new Tokenizer(tokenizerJson, rawTokenizerConfig, at("tokenizer.json"));
  const tokenizerConfig = check(tokenizerConfigJson, rawTokenizerConfig, at("tokenizer_config.json"));
  const config = check(configJson, rawConfig, at("config.json"));
  const generation = check(configJson, rawGeneration, at("generation_config.json"));
  const special = specialTokens(tokenizerConfig);
  const source: ChatTemplateSource | undefined | null = templateFile ?? tokenizerConfig.chat_template;
  const chatTemplate = source ? new ChatTemplate(source, special) : undefined;
  const eos = special.eos_token === undefined ? undefined : tokenizer.idOf(special.eos_token);
  return {
    tokenizer,
    chatTemplate,
    responseFamily: chatTemplate === undefined ? "plain" : responseFamilyOf(chatTemplate.source),
    stopIds: [...new Set([generation.eos_token_id, config.eos_token_id, eos].flatMap((id) => id ?? []))],
    contextLength: config.max_position_embeddings ?? 2048,
    vocabularySize: config.vocab_size ?? Infinity,
  };
}

/** A file of its own; most models have it in tokenizer_config.json. */
function templateOf(file: string): Promise<string | undefined> {
  return readModelText(file).catch((cause: unknown) => {
    if (SpotterError.is(cause)) throw cause;
    return undefined;
  });
}

function specialTokens(config: z.infer<typeof tokenizerConfigJson>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ["bos_token", "eos_token", "pad_token", "unk_token"] as const) {
    const token = config[name];
    if (token) found[name] = typeof token === "string" ? token : token.content;
  }
  return found;
}

function check<S extends z.ZodMiniType>(schema: S, value: object, file: string): z.infer<S> {
  const parsed = z.safeParse(schema, value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const findings = parsed.error.issues
    .flatMap((issue) => describeIssue(issue, () => []))
    .map(({ path, message }) => `${path || "(top level)"}: ${message}`)
    .join("; ");
  throw new SpotterError("model_corrupt", `${file}: ${findings}.`, {
    where: file,
    hint: "Download the model again.",
  });
}
