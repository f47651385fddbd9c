import { describe, expect, it } from "vitest";
import { Policy } from "../../../../../engine/onnx/models/policy.ts";
import { loadTextModel } from "../../../../../engine/onnx/text/text-model.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { fixture } from "../../support/fixtures.ts";

/** Llama 3's file stretches positions as its published models do, not as the family's fixture does. */
const LLAMA3 = { factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 };

describe("a model in a GGUF file", () => {
  it.each(["llama3", "qwen2", "qwen3"])("of the family %s is the one its safetensors are", async (family) => {
    const [read, wanted] = await Promise.all([
      Policy.load(fixture(`gguf/${family}.gguf`)),
      Policy.load(fixture(`families/${family}`)),
    ]);
    const scaling = family === "llama3" ? { ropeScaling: LLAMA3 } : {};
    expect(read.config).toEqual({ ...wanted.config, ...scaling });
    for (const { name, data } of wanted.parameters) {
      expect(
        Buffer.compare(Buffer.from(read.parameters.get(name).data.buffer), Buffer.from(data.buffer)),
        name,
      ).toBe(0);
    }
  });

  it("is saved as a folder with a tokenizer, which loads as the same model", async () => {
    await using folder = await temporaryFolder();
    const place = fixture("gguf/qwen3.gguf");
    const policy = await Policy.load(place);
    await policy.save(folder.path);
    const again = await Policy.load(folder.path);
    expect(again.config).toEqual(policy.config);
    const [first, second] = await Promise.all([loadTextModel(place), loadTextModel(folder.path)]);
    expect(second.tokenizer.encode("t1t")).toEqual(first.tokenizer.encode("t1t"));
    expect(second.stopIds).toEqual([31]);
  });
});
