import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { SpotterError } from "./schema/errors.ts";
import { adapterShape } from "./schema/peft.ts";
import type { LoraParams } from "./train-config.ts";

/** The adapter a run begins with, with rank, alpha and targets as its folder has them where they are not given. */
export async function adapterFrom(params: LoraParams & { from: string }): Promise<LoraParams> {
  const { from, ...given } = params;
  const folder = resolve(from.replace(/^~(?=\/|$)/, homedir()));
  const file = join(folder, "adapter_config.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  const shape = text === undefined ? undefined : adapterShape(jsonOf(text));
  if (shape === undefined) {
    const what = text === undefined ? "There is no" : "Of no adapter of the LoRA kind is the";
    throw new SpotterError("model_not_found", `${what} adapter_config.json in ${folder}.`, {
      where: "adapter.from",
      hint: "Give a folder as PEFT writes it, or as `spotter checkpoint export --format peft` does.",
    });
  }
  const { r, alpha, targets } = shape;
  return { rank: r, alpha, targets: targets as NonNullable<LoraParams["targets"]>, ...given, from: folder };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
