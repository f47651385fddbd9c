import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";
import type { LlamaConfig } from "../models/llama-config.ts";
import { EMBEDDING, HEAD } from "../models/llama-parameters.ts";
import { LoraAdapter } from "../models/lora.ts";
import { Policy } from "../models/policy.ts";
import type { LoraSetup } from "../engine-api.ts";

const EMBEDDING_DEVIATION = 0.02;

/**
 * A policy to pretrain: embeddings normal with deviation 0.02, linear layers 1/sqrt(inputs), those that write
 * into the residual stream another 1/sqrt(2 layers) smaller (GPT-2's rule), norms 1, biases 0. Equal seeds, equal bits.
 */
export function randomPolicy(config: LlamaConfig, seed: number): Policy {
  const policy = new Policy(config);
  const random = xoroshiro128plus(seed);
  for (const { name, shape, data } of policy.parameters) {
    const inputs = shape[1];
    if (inputs === undefined) {
      data.fill(name.endsWith(".bias") ? 0 : 1);
      continue;
    }
    const embedding = name === EMBEDDING || name === HEAD;
    const residual = /\.(o_proj|down_proj)\.weight$/.test(name) ? 1 / Math.sqrt(2 * config.layers) : 1;
    fillNormal(random, data, embedding ? EMBEDDING_DEVIATION : residual / Math.sqrt(inputs));
  }
  return policy;
}

/** A fresh adapter: A Kaiming-uniform as PEFT draws it (bound 1/sqrt(inputs)), B zero, so nothing changes yet. */
export function randomAdapter(config: LlamaConfig, setup: LoraSetup, seed: number): LoraAdapter {
  const adapter = new LoraAdapter(config, setup);
  const random = xoroshiro128plus(seed);
  for (const { name, shape, data } of adapter.parameters) {
    if (!name.endsWith(".lora_A")) continue;
    const bound = 1 / Math.sqrt(shape[1] ?? 1);
    for (let i = 0; i < data.length; i++) data[i] = (2 * uniformFloat64(random) - 1) * bound;
  }
  return adapter;
}

/** Box-Muller, two at a time. */
function fillNormal(random: RandomGenerator, data: Float32Array, deviation: number): void {
  for (let i = 0; i < data.length; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(random))) * deviation;
    const angle = 2 * Math.PI * uniformFloat64(random);
    data[i] = radius * Math.cos(angle);
    if (i + 1 < data.length) data[i + 1] = radius * Math.sin(angle);
  }
}
