import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import { SpotterError } from "../schema/errors.ts";
import type { DatasetRow } from "../schema/dataset.ts";

/** Tokens of a row as training counts them. */
export interface RowTokens {
  prompt: number;
  completion: number | undefined;
}

/** Its declarations do not resolve under `nodenext`. */
const HubTokenizer = Tokenizer as unknown as new (
  tokenizer: object,
  config: object,
) => { encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] } };

/**
 * Counts with the tokenizer and chat template of a model folder.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt`
 */
export async function createTokenCounter(folder: string): Promise<(row: DatasetRow) => RowTokens> {
  const [tokenizerJson, config, templateFile] = await Promise.all([
    readJson(join(folder, "tokenizer.json")),
    readJson(join(folder, "tokenizer_config.json"), {}),
    readFile(join(folder, "chat_template.jinja"), "utf8").catch(() => undefined),
  ]);
  const tokenizer = new HubTokenizer(tokenizerJson, config);
  const source = templateFile ?? templateOf(config);
  const template = source === undefined ? undefined : new Template(source);
  const special = specialTokens(config);
  const count = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;

  return ({ prompt, completion, chatTemplate }) => {
    const text =
      // Rows that stand for themselves (role "row") are no conversation.
      template === undefined || chatTemplate === false || prompt[0]?.role === "row"
        ? prompt.map(({ content }) => String(content)).join("\n\n")
        : template.render({ ...special, messages: prompt, add_generation_prompt: true });
    return { prompt: count(text), completion: completion === undefined ? undefined : count(completion) };
  };
}

function templateOf(config: Record<string, unknown>): string | undefined {
  const { chat_template: template } = config;
  if (typeof template === "string") return template;
  if (!Array.isArray(template)) return undefined;
  const named = template as { name?: unknown; template?: unknown }[];
  const found = (named.find(({ name }) => name === "default") ?? named[0])?.template;
  return typeof found === "string" ? found : undefined;
}

function specialTokens(config: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    ["bos_token", "eos_token", "pad_token", "unk_token"].flatMap((name): [string, string][] => {
      const token = config[name] as string | { content?: string } | null | undefined;
      const text = typeof token === "string" ? token : token?.content;
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

async function readJson(file: string, otherwise?: object): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if (otherwise !== undefined) return otherwise as Record<string, unknown>;
    throw new SpotterError("model_not_found", `There is no ${file}.`, {
      where: file,
      hint: "Give a model folder, spotter/nano, hf:owner/name or the name of stored weights.",
      cause,
    });
  }
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new SpotterError("model_corrupt", `${file} is not JSON.`, {
      where: file,
      hint: "Download the model again.",
      cause,
    });
  }
}
