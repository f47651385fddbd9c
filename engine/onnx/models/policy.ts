import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tensors } from "../graph/session.ts";
import { writeSafetensors } from "../weights/safetensors.ts";
import { checkShapes, loadInto, weightFiles } from "../weights/load.ts";
import { writeCompanions } from "../text/companions.ts";
import { loadLlamaConfig, toHfConfig, type LlamaConfig } from "./llama-config.ts";
import { llamaParameters } from "./llama-parameters.ts";
import type { LoraAdapter } from "./lora.ts";
import { ParameterSet } from "./parameter-set.ts";
import { loadAdapter, writeAdapter } from "./peft.ts";

/**
 * A model's configuration and weights, and an adapter where it has one. The arrays are the only copy:
 * training writes into them, and the next decode step sees it.
 */
export class Policy {
  readonly config: LlamaConfig;
  readonly parameters: ParameterSet;
  /** Set by {@link load} with an adapter, or by a trainer that starts one. */
  adapter: LoraAdapter | undefined;
  /** Where it was loaded from; tokenizer and chat template are copied from there when it is saved. */
  readonly sourceDir: string | undefined;

  constructor(config: LlamaConfig, sourceDir?: string) {
    this.config = config;
    this.parameters = new ParameterSet(llamaParameters(config));
    this.sourceDir = sourceDir;
  }

  /**
   * Loads a model folder (config.json and model.safetensors or its shards) or a GGUF file, and a PEFT adapter onto it.
   *
   * @throws SpotterError `model_not_found`, `model_unsupported` or `model_corrupt`, naming file and key.
   */
  static async load(modelDir: string, options: { adapterDir?: string } = {}): Promise<Policy> {
    const config = await loadLlamaConfig(modelDir);
    const files = await weightFiles(modelDir);
    await checkShapes(llamaParameters(config), files);
    const policy = new Policy(config, modelDir);
    await loadInto(policy.parameters, files);
    if (options.adapterDir !== undefined) {
      policy.adapter = await loadAdapter(policy.config, options.adapterDir);
    }
    return policy;
  }

  /** All weights, as a session that shares them is fed. */
  feeds(): Tensors {
    return { ...this.parameters.feeds(), ...this.adapter?.parameters.feeds() };
  }

  /** Writes a model folder, tokenizer and chat template included. `type` default: F32. */
  async save(dir: string, type: "F32" | "BF16" = "F32"): Promise<void> {
    await mkdir(dir, { recursive: true });
    const config = { ...toHfConfig(this.config), torch_dtype: type === "F32" ? "float32" : "bfloat16" };
    await writeFile(join(dir, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
    await writeSafetensors(join(dir, "model.safetensors"), this.parameters.diskTensors(), type);
    await this.#copyCompanions(dir);
  }

  /** Writes the adapter as a PEFT folder, which vLLM and Transformers can load as well. */
  async saveAdapter(dir: string): Promise<void> {
    if (this.adapter === undefined) throw new RangeError("The policy has no adapter to save");
    await writeAdapter(this.adapter, dir);
  }

  async #copyCompanions(dir: string): Promise<void> {
    if (this.sourceDir === undefined || this.sourceDir === dir) return;
    await writeCompanions(this.sourceDir, dir);
  }
}
