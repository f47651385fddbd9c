import { describe, expect, it } from "vitest";
import { configOf, errorsOf, expectFixed, resolving } from "./resolving.ts";

const sft = (toml: string, flags: string[] = []) => resolving("sft", [toml], flags);

describe("sft refuses", () => {
  it.each([
    [
      "micro-batches that do not fill the batch",
      "[data]\nbatch_size = 8\nmicro_batch_size = 3",
      ["data.micro_batch_size"],
    ],
    ["stacks of another length", '[data]\npack_function = "stack"\nseq_len = 100', ["data.seq_len"]],
    [
      "split sequences that are stacked, uneven and several",
      '[model]\ncp = 2\n[data]\npack_function = "stack"\nseq_len = 255\nmicro_batch_size = 2',
      ["data.micro_batch_size", "data.pack_function", "data.seq_len", "data.seq_len"],
    ],
    ["a validation that differs", "[model]\ncp = 2\n[val.data]\nseq_len = 3", ["val.data.seq_len"]],
    ["a validation without data", "[val]\ninterval = 5", ["val.data"]],
    [
      "subsets without their splits",
      '[data]\nsubsets = ["a", "b"]\nsplits = ["train"]\nprobabilities = [1.0]',
      ["data.probabilities", "data.splits"],
    ],
    [
      "a renderer for images",
      '[renderer]\nname = "qwen3"\n[model.vlm]\nvision_encoder_attr = "v"\nlanguage_model_attr = "l"',
      ["renderer"],
    ],
    ["more GPUs than the node has", "[deployment]\nnum_gpus = 9", ["deployment.num_gpus"]],
    ["several nodes without slurm", '[deployment]\ntype = "multi_node"', ["deployment.type"]],
    [
      "groups of nodes that do not fit",
      '[slurm]\n[deployment]\ntype = "multi_node"\nnum_nodes = 3\nnodes_per_fsdp_group = 2',
      ["deployment.nodes_per_fsdp_group"],
    ],
    ["what the trainer refuses", "[model]\nfsdp_cpu_offload = true", ["model.fsdp_cpu_offload"]],
  ])("%s", async (_, toml, paths) => {
    expect(errorsOf(await sft(toml))).toEqual(paths);
  });
});

describe("sft completes", () => {
  it("the output layer, the tokenizer, and the copies of the weights", async () => {
    const config = configOf(
      await sft('[slurm]\n[deployment]\ntype = "multi_node"\nnum_nodes = 4\nnodes_per_fsdp_group = 2'),
    );
    expect(config).toMatchObject({
      model: { fused_lm_head_token_chunk_size: "disabled", dp_replicate: 2 },
      tokenizer: { name: "Qwen/Qwen3-0.6B" },
      slurm: { project_dir: process.cwd() },
    });
    await expectFixed("sft", config);
  });

  it("a measurement: four steps, nothing saved", async () => {
    const config = configOf(await sft("[bench]\n[ckpt]"));
    expect(config).toMatchObject({ max_steps: 4, ckpt: null });
    await expectFixed("sft", config);
  });

  it("several nodes without the number of GPUs of one", async () => {
    const flags = ["--deployment.type", "multi_node", "--slurm"];
    const config = configOf(await sft("[deployment]\nnum_gpus = 4", flags));
    expect(config).toMatchObject({ deployment: { type: "multi_node", num_nodes: 2 } });
    configOf(await sft('[slurm]\n[deployment]\ntype = "multi_node"\nnum_gpus = 4'));
  });

  it("a renderer by its table alone", async () => {
    expect(configOf(await sft("[renderer]"))).toMatchObject({ renderer: { name: "auto" } });
    expect(configOf(await sft(""))).toMatchObject({ renderer: null });
  });
});
