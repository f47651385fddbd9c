import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { exportModel } from "../../engine/export/export-model.ts";
import { LoraAdapter } from "../../engine/onnx/models/lora.ts";
import { writeAdapter } from "../../engine/onnx/models/peft.ts";
import { loadLlamaConfig } from "../../engine/onnx/models/llama-config.ts";
import { startEngine } from "../../engine/onnx/engine-client.ts";
import { loadTextModel } from "../../engine/onnx/text/text-model.ts";
import { askLlamaCpp, llamaCppInstalled } from "./llama-cpp.ts";

const nano = join(import.meta.dirname, "../../engine/models/nano");
const TEXT = "<|user|>Write a haiku about rain.<|end|><|assistant|>";
const NEW_TOKENS = 16;
/** `<|end|>` */
const END_ID = 1;

/** A Python with the packages: the one of `SPOTTER_REFERENCE_PYTHON`, or the usual one. */
const python = process.env.SPOTTER_REFERENCE_PYTHON ?? "python3";
const isPythonThere =
  spawnSync(python, ["-c", "import torch, transformers, peft"], { encoding: "utf8" }).status === 0;
if (!isPythonThere)
  process.stdout.write(
    "Transformers and PEFT are skipped: SPOTTER_REFERENCE_PYTHON names no Python with torch, transformers and peft\n",
  );

let root: string;
let adapterDir: string;
/** What the embedded engine says with the adapter. */
let said: { prompt: number[]; ids: number[] };

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "spotter-exports-"));
  adapterDir = join(root, "adapter");
  const adapter = new LoraAdapter(await loadLlamaConfig(nano), {
    rank: 4,
    alpha: 8,
    targets: ["q_proj", "down_proj"],
  });
  // Small, and every element its own, so that a matrix in another order shows.
  for (const { data } of adapter.parameters)
    for (let i = 0; i < data.length; i++) data[i] = 0.08 * Math.sin(7 * i);
  await writeAdapter(adapter, adapterDir);
  said = await greedy(nano, adapterDir);
  return () => rmSync(root, { recursive: true });
}, 60_000);

async function greedy(modelDir: string, adapter?: string): Promise<{ prompt: number[]; ids: number[] }> {
  const text = await loadTextModel(modelDir);
  const setup = { modelDir, threads: 2, slots: 2, ...(adapter !== undefined && { adapterDir: adapter }) };
  const engine = await startEngine(setup);
  try {
    const promptIds = text.tokenizer.encode(TEXT);
    const request = {
      promptIds,
      maxNewTokens: NEW_TOKENS,
      temperature: 0,
      topP: 1,
      topK: 0,
      seed: 0,
      stopIds: [],
    };
    return { prompt: promptIds, ids: (await engine.generate(request)).ids };
  } finally {
    await engine.close();
  }
}

describe("spotter/nano with an adapter, exported", () => {
  it("says something else than without it", async () => {
    expect((await greedy(nano)).ids).not.toEqual(said.ids);
  });

  it.skipIf(!llamaCppInstalled()).each(["F32", "F16"] as const)(
    "as GGUF %s says in llama.cpp what it says here",
    async (type) => {
      const output = join(root, `${type}.gguf`);
      await exportModel({ modelDir: nano, adapterDir, format: "gguf", type, output, name: "nano" });
      // It knows by itself where an answer ends, and says nothing after that.
      const end = said.ids.includes(END_ID) ? said.ids.indexOf(END_ID) : NEW_TOKENS;
      expect(end).toBeGreaterThan(8);
      expect(askLlamaCpp(output, TEXT, NEW_TOKENS)).toEqual({ ...said, ids: said.ids.slice(0, end) });
    },
  );

  it.skipIf(!isPythonThere)(
    "as a folder and as an adapter says in Transformers and PEFT what it says here",
    async () => {
      const output = join(root, "hf");
      await exportModel({ modelDir: nano, adapterDir, format: "hf", type: "F32", output, name: "nano" });
      const program = join(root, "read.py");
      writeFileSync(program, READER);
      const words = [program, output, nano, adapterDir, TEXT, String(NEW_TOKENS)];
      const { stdout, stderr } = spawnSync(python, words, { encoding: "utf8" });
      const read = JSON.parse(stdout.trim().split("\n").at(-1) || JSON.stringify(stderr)) as unknown;
      expect(read).toEqual({ prompt: said.prompt, merged: said.ids, adapted: said.ids });
      expect(existsSync(join(output, "tokenizer_config.json"))).toBe(true);
    },
  );
});

const READER = `
import json, sys
import torch, transformers, peft
folder, base, adapter, text, count = sys.argv[1:]
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
def greedy(model):
    ids = list(prompt)
    with torch.no_grad():
        for _ in range(int(count)):
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt):]
load = lambda path: transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
merged = greedy(load(folder))
adapted = greedy(peft.PeftModel.from_pretrained(load(base), adapter))
print(json.dumps({"prompt": prompt, "merged": merged, "adapted": adapted}))
`;
