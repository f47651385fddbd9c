import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { startEngine } from "../../engine/onnx/engine-client.ts";
import { loadTextModel } from "../../engine/onnx/text/text-model.ts";
import { smollm2File } from "./smollm2-file.ts";

/** Written by test/reference/smollm2.py. */
interface Reference {
  file: { sha256: string };
  answers: {
    question: string;
    text: string;
    prompt: number[];
    ids: number[];
    lead: number;
    answer: string;
  }[];
  texts: { text: string; ids: number[] }[];
}

const file = smollm2File();
const fixture = new URL("../fixtures/engine/smollm2.json", import.meta.url);
const reference = JSON.parse(readFileSync(fixture, "utf8")) as Reference;

/** Less is a tie that rounding may decide either way. */
const TIE = 1e-3;

describe.skipIf(file === undefined)("SmolLM2-135M-Instruct out of a GGUF file", () => {
  const path = file ?? "";

  it("is the file that the reference read", async () => {
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash);
    expect(hash.digest("hex")).toBe(reference.file.sha256);
    for (const { lead } of reference.answers) expect(lead).toBeGreaterThan(TIE);
  });

  it("cuts text, renders its template and answers greedily as Transformers does", async () => {
    const text = await loadTextModel(path);
    for (const { text: given, ids } of reference.texts)
      expect(text.tokenizer.encode(given), given).toEqual(ids);
    const engine = await startEngine({ modelDir: path, threads: 2, slots: 8 });
    try {
      const answers = reference.answers.map(async ({ question, text: rendered, prompt, ids, answer }) => {
        const said = text.chatTemplate?.render([{ role: "user", content: question }]) ?? "";
        expect(said).toBe(rendered);
        const promptIds = text.tokenizer.encode(said);
        expect(promptIds).toEqual(prompt);
        const greedy = { temperature: 0, topP: 1, topK: 0, seed: 0, stopIds: text.stopIds };
        const found = await engine.generate({ promptIds, maxNewTokens: 48, ...greedy });
        expect(found.ids, question).toEqual(ids);
        expect(text.tokenizer.decode(found.ids)).toBe(answer);
      });
      await Promise.all(answers);
    } finally {
      await engine.close();
    }
  });
});
