import { join } from "node:path";
import * as z from "zod/mini";
import { DESCRIBED, describeIssue } from "../../../sdk/schema/describe-issue.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { readModelText } from "../weights/model-file.ts";
import type { ChatTemplateSource } from "./chat-template.ts";
import { readGgufFolder, type GgufFolder } from "./gguf-folder.ts";
import { readObject, tokenBytesOf } from "./tokenizer.ts";

/** The files of a model about text, read and checked. */
export interface ModelTexts {
  /** Contents of tokenizer.json and tokenizer_config.json. */
  tokenizer: object;
  tokenizerConfig: object;
  /** Where tokenizer.json is; errors name it. */
  tokenizerFile: string;
  /** `bos_token` and the others that templates write by name. */
  special: Record<string, string>;
  chatTemplate: ChatTemplateSource | undefined;
  /** Tokens that end an answer, as generation_config.json and config.json have them. */
  endIds: number[];
  contextLength: number | undefined;
  vocabularySize: number | undefined;
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
 * Reads them from a model folder, or from a GGUF file.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`, naming the file.
 */
export async function readModelTexts(modelDir: string): Promise<ModelTexts> {
  const gguf = await readGgufFolder(modelDir);
  const at = (name: string): string => (gguf === undefined ? join(modelDir, name) : `${gguf.path}: ${name}`);
  const read = (name: keyof GgufFolder, fallback?: object): Promise<object> | object =>
    gguf === undefined ? readObject(at(name), fallback) : gguf.files[name];
  const [tokenizer, rawTokenizerConfig, rawConfig, rawGeneration, templateFile] = await Promise.all([
    read("tokenizer.json"),
    read("tokenizer_config.json", {}),
    read("config.json"),
    read("generation_config.json", {}),
    gguf === undefined ? templateOf(at("chat_template.jinja")) : undefined,
  ]);
  const tokenizerConfig = check(tokenizerConfigJson, rawTokenizerConfig, at("tokenizer_config.json"));
  const config = check(configJson, rawConfig, at("config.json"));
  const generation = check(configJson, rawGeneration, at("generation_config.json"));
  return {
    tokenizer,
    tokenizerConfig: rawTokenizerConfig,
    tokenizerFile: at("tokenizer.json"),
    special: specialTokens(tokenizerConfig),
    chatTemplate: templateFile ?? tokenizerConfig.chat_template ?? undefined,
    endIds: [generation.eos_token_id, config.eos_token_id].flatMap((id) => id ?? []),
    contextLength: config.max_position_embeddings ?? undefined,
    vocabularySize: config.vocab_size ?? undefined,
  };
}

/** What each token of a model writes, by id, out of a model folder or a GGUF file. */
export async function modelTokenBytes(modelDir: string): Promise<(Uint8Array | undefined)[]> {
  const { tokenizer, tokenizerFile } = await readModelTexts(modelDir);
  return tokenBytesOf(tokenizer, tokenizerFile);
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
  const parsed = z.safeParse(schema, value, DESCRIBED);
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
