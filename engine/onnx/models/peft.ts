/**
 * Adapters on disk as PEFT writes them (https://huggingface.co/docs/peft): `adapter_config.json` and
 * `adapter_model.safetensors`.
 *
 * @module
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { DESCRIBED, describeIssue } from "../../../sdk/schema/describe-issue.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { loadInto, readJson } from "../weights/load.ts";
import { writeSafetensors } from "../weights/safetensors.ts";
import type { LlamaConfig } from "./llama-config.ts";
import { PROJECTIONS } from "./llama-parameters.ts";
import { LoraAdapter } from "./lora.ts";

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";

const adapterConfig = z.object({
  peft_type: z.string(),
  r: z.int().check(z.positive(), z.lte(65_536)),
  lora_alpha: z.number().check(z.positive()),
  target_modules: z.union([z.array(z.string()), z.string()]),
  bias: z._default(z.string(), "none"),
  use_dora: z.nullish(z.boolean()),
  use_rslora: z.nullish(z.boolean()),
  rank_pattern: z.nullish(z.record(z.string(), z.unknown())),
  alpha_pattern: z.nullish(z.record(z.string(), z.unknown())),
  modules_to_save: z.nullish(z.array(z.string())),
  layers_to_transform: z.nullish(z.unknown()),
});

/**
 * Loads an adapter made for a model of this configuration.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt`, or `model_unsupported` naming the option that is
 *   not plain LoRA.
 */
export async function loadAdapter(config: LlamaConfig, dir: string): Promise<LoraAdapter> {
  const file = join(dir, CONFIG);
  const parsed = z.safeParse(adapterConfig, await readJson(file), DESCRIBED);
  if (!parsed.success) {
    const findings = parsed.error.issues
      .flatMap((issue) => describeIssue(issue, () => []))
      .map(({ path, message }) => `${path || "(top level)"}: ${message}`);
    throw new SpotterError("model_corrupt", `${file}: ${findings.join("; ")}.`, { where: file });
  }
  const peft = parsed.data;
  const odd = [
    peft.peft_type !== "LORA" && "peft_type",
    peft.bias !== "none" && "bias",
    peft.use_dora && "use_dora",
    Object.keys(peft.rank_pattern ?? {}).length > 0 && "rank_pattern",
    Object.keys(peft.alpha_pattern ?? {}).length > 0 && "alpha_pattern",
    (peft.modules_to_save ?? []).length > 0 && "modules_to_save",
    (peft.layers_to_transform ?? null) !== null && "layers_to_transform",
    typeof peft.target_modules === "string" && peft.target_modules !== "all-linear" && "target_modules",
  ].filter((key) => typeof key === "string");
  if (odd.length > 0) {
    throw new SpotterError("model_unsupported", `${file}: ${odd.join(", ")} is more than plain LoRA.`, {
      where: `${file}: ${odd[0]}`,
      hint: "Merge this adapter into its base model and load the result.",
    });
  }
  // rsLoRA divides by the root of the rank; as an alpha of the plain kind it is alpha * sqrt(rank).
  const alpha = peft.use_rslora ? peft.lora_alpha * Math.sqrt(peft.r) : peft.lora_alpha;
  const targets = typeof peft.target_modules === "string" ? [...PROJECTIONS] : peft.target_modules;
  const adapter = new LoraAdapter(config, { rank: peft.r, alpha, targets });
  await loadInto(adapter.parameters, [join(dir, WEIGHTS)]);
  return adapter;
}

/** Writes the folder. The base model is left open in it: a path on this machine means nothing elsewhere. */
export async function writeAdapter(adapter: LoraAdapter, dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  const config = {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: null,
    r: adapter.rank,
    lora_alpha: adapter.alpha,
    lora_dropout: 0,
    bias: "none",
    target_modules: adapter.targets,
    fan_in_fan_out: false,
    use_rslora: false,
    use_dora: false,
    inference_mode: true,
  };
  await writeFile(join(dir, CONFIG), `${JSON.stringify(config, null, 2)}\n`);
  await writeSafetensors(join(dir, WEIGHTS), adapter.parameters.diskTensors());
}
