import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ChatTemplate } from "../../engine/onnx/text/chat-template.ts";
import type { LlamaConfig } from "../../engine/onnx/models/llama-config.ts";
import { END_ID, PAD_ID, tokenizerConfig, tokenizerJson } from "./tokenizer-files.ts";
import { trainTokenizer, VOCABULARY_SIZE } from "./tokenizer.ts";

/** 0.95 million parameters. */
export const shape: LlamaConfig = {
  family: "llama",
  vocabularySize: VOCABULARY_SIZE,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  keyValueHeads: 2,
  headSize: 32,
  feedForwardSize: 384,
  maxPositions: 1024,
  normEpsilon: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
};

const chatTemplateSource = readFileSync(new URL("chat-template.jinja", import.meta.url), "utf8");

/** Trains the tokenizer and writes everything of the model folder that is text, except config.json. */
export async function writeTextFiles(dir: string, tokenizerSeed: number): Promise<void> {
  await mkdir(dir, { recursive: true });
  const pairs = trainTokenizer(new ChatTemplate(chatTemplateSource), tokenizerSeed);
  await writeJson(join(dir, "tokenizer.json"), tokenizerJson(pairs));
  await writeJson(
    join(dir, "tokenizer_config.json"),
    tokenizerConfig(chatTemplateSource, shape.maxPositions),
  );
  // Newer tools look for the template in a file of its own.
  await writeFile(join(dir, "chat_template.jinja"), chatTemplateSource);
  await writeJson(join(dir, "generation_config.json"), {
    do_sample: true,
    temperature: 1,
    eos_token_id: END_ID,
    pad_token_id: PAD_ID,
  });
}

export async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
