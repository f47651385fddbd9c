import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { adapterFrom } from "../../sdk/peft-adapter.ts";
import { adapterShape } from "../../sdk/schema/peft.ts";

function folderOf(config: string): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-peft-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "adapter_config.json"), config);
  return folder;
}

describe("the adapter a run begins with", () => {
  it("says itself which rank, alpha and targets it has; what is given counts", async () => {
    const from = folderOf('{"r":4,"lora_alpha":12,"target_modules":["v_proj"],"peft_type":"LORA"}');
    const adapter = { kind: "lora" as const, from, alpha: 8 };
    expect(await adapterFrom(adapter)).toEqual({
      kind: "lora",
      from,
      rank: 4,
      alpha: 8,
      targets: ["v_proj"],
    });
  });

  it("is as strong as it says where its rank is stabilised, and targets all where it says so", () => {
    const config = { r: 4, lora_alpha: 3, target_modules: "all-linear", use_rslora: true };
    expect(adapterShape(config)).toMatchObject({ r: 4, alpha: 6 });
    expect(adapterShape(config)?.targets).toHaveLength(7);
  });

  it.each([
    ["no JSON", "{"],
    ["of another kind", '{"peft_type":"IA3"}'],
  ])("is refused where its folder is %s", async (_, config) => {
    const adapter = { kind: "lora" as const, from: folderOf(config) };
    await expect(adapterFrom(adapter)).rejects.toMatchObject({
      code: "model_not_found",
      where: "adapter.from",
    });
    const nowhere = { ...adapter, from: "/nowhere" };
    await expect(adapterFrom(nowhere)).rejects.toThrow(/There is no adapter_config.json in \/nowhere/);
  });
});
