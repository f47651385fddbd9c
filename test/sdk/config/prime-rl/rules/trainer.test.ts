import { describe, expect, it } from "vitest";
import { configOf, errorsOf, expectFixed, resolving } from "./resolving.ts";

const trainer = (toml: string) => resolving("trainer", [toml]);
const OFFLOADED = "fsdp_cpu_offload = true\noptim_cpu_offload = false";

describe("a trainer refuses", () => {
  it.each([
    ["flash attention 4 in another implementation", '[model]\nattn = "flash_attention_4"', ["model.attn"]],
    ["split sequences without flash attention", '[model]\ncp = 2\nattn = "sdpa"', ["model.attn"]],
    [
      "split sequences with flash attention 3 there",
      '[model]\ncp = 2\nattn = "flash_attention_3"',
      ["model.attn"],
    ],
    [
      "code of the repository in its own implementation",
      '[model]\ntrust_remote_code = true\nimpl = "custom"',
      ["model.trust_remote_code"],
    ],
    ["FP8 in the hub's implementation", '[model]\nfp8 = true\nimpl = "hf"', ["model.fp8"]],
    ["two ways to offload", "[model]\nfsdp_cpu_offload = true", ["model.fsdp_cpu_offload"]],
    ["selecting nothing", '[model.ac]\nmode = "selective"\ntargets = []', ["model.ac.targets"]],
    [
      "selecting in the hub's implementation",
      '[model]\nimpl = "hf"\n[model.ac]\nmode = "selective"',
      ["model.ac.mode"],
    ],
    [
      "exchanging between experts that are not split",
      '[model]\nep_comm_backend = "deepep"\nep = 1',
      ["model.ep_comm_backend"],
    ],
    ["splitting experts in the hub's implementation", '[model]\nimpl = "hf"\nep = 2', ["model.ep"]],
    ["several runs with an offloaded optimizer", "max_concurrent_runs = 2", ["max_concurrent_runs"]],
    ["adapters over NCCL", '[model.lora]\n[weight_broadcast]\ntype = "nccl"', ["model.lora"]],
    [
      "router replay in the hub's implementation",
      'enable_router_replay = true\n[model]\nimpl = "hf"',
      ["enable_router_replay"],
    ],
    ["muon on offloaded parameters", `[model]\n${OFFLOADED}\n[optim]\ntype = "muon"`, ["optim.type"]],
    [
      "saving an adapter that is not there",
      "[ckpt.weights]\nsave_adapter_separately = true",
      ["ckpt.weights.save_adapter_separately"],
    ],
    ["tracing without an end", 'trace_path = "t"', ["trace_path"]],
    ["tracing ten steps", 'trace_path = "t"\nmax_steps = 10', ["trace_path"]],
    [
      "vision in another precision, with an adapter over an encoder that is not frozen",
      '[model.lora]\n[model.vlm]\nvision_encoder_attr = "v"\nlanguage_model_attr = "l"\nfreeze_vision_encoder = false',
      ["model.optimization_dtype", "model.reduce_dtype", "model.vlm.freeze_vision_encoder"],
    ],
    [
      "a variable that the launcher owns",
      '[env_vars]\nCUDA_VISIBLE_DEVICES = "0"\nA = "1"',
      ["env_vars.CUDA_VISIBLE_DEVICES"],
    ],
  ])("%s", async (_, toml, paths) => {
    expect(errorsOf(await trainer(toml))).toEqual(paths);
  });

  it("all of it at once, with place and remedy", async () => {
    const { findings } = await trainer('trace_path = "t"\n[model]\nfp8 = true\nimpl = "hf"\nep = 2');
    expect(findings.map(({ path, line, hint }) => [path, line, hint])).toEqual([
      ["trace_path", 1, "Set max_steps below 10; it is not set."],
      ["model.fp8", 3, "Set model.impl to custom or auto."],
      ["model.ep", 5, "Set model.impl to custom or auto."],
    ]);
  });
});

describe("a trainer completes", () => {
  it("the tokenizer from the model", async () => {
    const config = configOf(await trainer('[model]\nname = "a/b"\ntrust_remote_code = true'));
    expect(config).toMatchObject({ tokenizer: { name: "a/b", trust_remote_code: true } });
    await expectFixed("trainer", config);
  });

  it("recomputing where activations are moved", async () => {
    const config = configOf(await trainer('[model]\nac = "None"'));
    expect(config).toMatchObject({ model: { ac: { mode: "full", freq: 1 } } });
    const neither = configOf(await trainer('[model]\nac = "None"\nac_offloading = "None"'));
    expect(neither).toMatchObject({ model: { ac: null, ac_offloading: null } });
    await expectFixed("trainer", neither);
  });

  it("targets, each once", async () => {
    const config = configOf(await trainer('[model.ac]\ntargets = ["norm", "mlp", "norm"]'));
    expect(config).toMatchObject({ model: { ac: { targets: ["norm", "mlp"] } } });
  });

  it("the short name of flash attention 4", async () => {
    const config = configOf(await trainer('[model]\nattn = "flash_attention_4"\nimpl = "custom"'));
    expect(config).toMatchObject({ model: { attn: "fa4" } });
  });

  it("a measurement: four steps on made-up data, nothing saved", async () => {
    const config = configOf(await trainer("max_steps = 50\n[bench]\n[ckpt]"));
    expect(config).toMatchObject({ max_steps: 4, ckpt: null, data: { fake: { batch_size: 2 } } });
    await expectFixed("trainer", config);
  });

  it("no clipping with deepep, and says so", async () => {
    const { config, findings } = await trainer('[model]\nep_comm_backend = "deepep"');
    expect(config).toMatchObject({ optim: { max_norm: null } });
    expect(findings).toMatchObject([{ severity: "warning", path: "optim.max_norm" }]);
  });
});
