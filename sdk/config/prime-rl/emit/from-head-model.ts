import { SAME_IN_VLLM } from "./head-model.ts";
import { isTable } from "../walk.ts";
import { resumeFromHead } from "./resume.ts";
import type { Conversion, Table } from "./tree.ts";

const NEW = "this version has no such setting.";

export function trainerFromHead(it: Conversion, at: string): void {
  trainingFromHead(it, at);
  it.take(`${at}weight_broadcast.session_id`);
}

/** What a trainer and `sft` have in common. `at` ends with a dot, or is empty. */
export function trainingFromHead(it: Conversion, at: string): void {
  if (it.peek(`${at}model.attn`) === "auto") it.take(`${at}model.attn`);
  const quantization = it.take(`${at}model.quantization`);
  if (isTable(quantization) && quantization["type"] === "fp8") it.put(`${at}model.fp8`, true);
  else if (quantization != null) it.lose(`${at}model.quantization`, "this version has fp8 only.");
  const standards = { full_offload: false, moe_router_dtype: "float32", moe_fused_kernel: false };
  for (const [key, standard] of Object.entries(standards)) it.drop(`${at}model.${key}`, NEW, standard);
  it.drop(`${at}model.conversion_dir`, NEW);
  it.move(`${at}monitors.wandb`, `${at}wandb`);
  it.take(`${at}monitors`);
  resumeFromHead(it, at);
}

/** vLLM's own names, and where they stand here. What is not among them is extra. */
const VLLM: Readonly<Record<string, string>> = {
  model: "model.name",
  trust_remote_code: "model.trust_remote_code",
  dtype: "model.dtype",
  max_model_len: "model.max_model_len",
  enforce_eager: "model.enforce_eager",
  chat_template: "model.chat_template",
  tool_call_parser: "model.tool_call_parser",
  reasoning_parser: "model.reasoning_parser",
  rope_scaling: "model.rope_scaling",
  tensor_parallel_size: "parallel.tp",
  data_parallel_size: "parallel.dp",
};
const SAME = new Set(SAME_IN_VLLM);

export function inferenceFromHead(it: Conversion, at: string): void {
  const extra: Table = {};
  for (const [key, value] of Object.entries(it.takeTable(`${at}vllm`) ?? {})) {
    const own = VLLM[key] ?? (SAME.has(key) ? key : undefined);
    if (own !== undefined) it.put(`${at}${own}`, value);
    else if (value !== null) extra[key] = value;
  }
  if (Object.keys(extra).length > 0) it.put(`${at}vllm_extra`, extra);
  it.move(`${at}backend_port`, `${at}deployment.backend_port`);
  it.move(`${at}router`, `${at}deployment.router`);
  it.drop(`${at}enable_fp32_router_logits`, NEW, true);
  for (const role of ["prefill", "decode"]) {
    const nodes = it.take(`${at}deployment.${role}_nodes_per_replica`);
    const replicas = it.peek(`${at}deployment.num_${role}_replicas`) ?? 1;
    if (typeof nodes === "number") it.put(`${at}deployment.num_${role}_nodes`, nodes * Number(replicas));
  }
}
