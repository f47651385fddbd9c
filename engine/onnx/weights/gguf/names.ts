/** Tensor names of GGUF files for the families that the embedded engine runs, and Hugging Face's for the same. */
const MODULES: Readonly<Record<string, string>> = {
  attn_norm: "input_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  attn_output: "self_attn.o_proj",
  ffn_norm: "post_attention_layernorm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
};
const OUTSIDE: Readonly<Record<string, string>> = {
  "token_embd.weight": "model.embed_tokens.weight",
  "output_norm.weight": "model.norm.weight",
  "output.weight": "lm_head.weight",
};
const MODULES_BACK = inverse(MODULES);
const OUTSIDE_BACK = inverse(OUTSIDE);

/** The factors that Llama 3 stretches positions by, one for each pair of a head: no weights. */
export const ROPE_FACTORS = "rope_freqs.weight";
export const GGUF_EMBEDDING = "token_embd.weight";
export const GGUF_HEAD = "output.weight";

/**
 * Hugging Face's name of a tensor; undefined for what no model of ours has.
 *
 * @example
 * hfTensorName("blk.3.attn_q.weight"); // "model.layers.3.self_attn.q_proj.weight"
 */
export function hfTensorName(name: string): string | undefined {
  const found = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/.exec(name);
  if (found === null) return OUTSIDE[name];
  const [, layer = "", module = "", kind = ""] = found;
  return MODULES[module] && `model.layers.${layer}.${MODULES[module]}.${kind}`;
}

/** The other way round. */
export function ggufTensorName(name: string): string | undefined {
  const found = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  if (found === null) return OUTSIDE_BACK[name];
  const [, layer = "", module = "", kind = ""] = found;
  return MODULES_BACK[module] && `blk.${layer}.${MODULES_BACK[module]}.${kind}`;
}

function inverse(names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(names).map(([key, value]) => [value, key]));
}
