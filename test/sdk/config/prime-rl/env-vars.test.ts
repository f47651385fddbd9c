import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { environmentOf, type Configured, type Process } from "../../../../sdk/config/prime-rl/env-vars.ts";
import { PROTECTED_ENV_VARS } from "../../../../sdk/config/prime-rl/schema/common.ts";
import { BASE, configOf, errorsOf, resolving } from "./rules/resolving.ts";

const LAYERS = `
[env_vars]
A = "all"
B = "all"
C = "all"
[trainer.env_vars]
B = "trainer"
[orchestrator.env_vars]
B = "orchestrator"
[inference.env_vars]
B = "inference"
[slurm]
[deployment]
type = "multi_node"
num_train_nodes = 1
num_infer_nodes = 2
[inference.deployment]
type = "disaggregated"
decode_env_vars = { C = "decode" }
`;

const launched = {
  inherited: { A: "inherited", HOME: "/home" },
  launcher: { A: "launcher", L: "launcher" },
  last: { CUDA_VISIBLE_DEVICES: "3" },
};

describe("the variables of a process", () => {
  it.each([
    ["trainer", { B: "trainer", C: "all" }],
    ["orchestrator", { B: "orchestrator", C: "all" }],
    ["prefill", { B: "inference", C: "all" }],
    ["decode", { B: "inference", C: "decode" }],
  ] as [Process, Record<string, string>][])(
    "of %s lie in layers, the launcher's last on top",
    async (process, own) => {
      const config = configOf(await resolving("rl", [BASE, LAYERS])) as Configured;
      expect(environmentOf(config, process, launched)).toEqual({
        HOME: "/home",
        L: "launcher",
        A: "all",
        ...own,
        CUDA_VISIBLE_DEVICES: "3",
      });
    },
  );

  it("of an entrypoint by itself are those of its tree", async () => {
    const sft = configOf(await resolving("sft", ['[env_vars]\nA = "1"'])) as Configured;
    expect(environmentOf(sft, "sft")).toEqual({ A: "1" });
    const inference = configOf(await resolving("inference", ['[env_vars]\nA = "1"'])) as Configured;
    expect(environmentOf(inference, "inference")).toEqual({ A: "1" });
  });

  it("reach a real process as they are", async () => {
    const config = configOf(
      await resolving("rl", [BASE, '[env_vars]\nA = "a b=c"\n[trainer.env_vars]\nA = "é\\n1"']),
    );
    const env = environmentOf(config, "trainer", { inherited: { PATH: process.env["PATH"] ?? "" } });
    const program = "process.stdout.write(JSON.stringify(process.env.A))";
    const out = execFileSync(process.execPath, ["-e", program], { env, encoding: "utf8" });
    expect(JSON.parse(out)).toBe("é\n1");
  });

  it.each(PROTECTED_ENV_VARS)("never include %s, at any level", async (name) => {
    for (const table of ["env_vars", "trainer.env_vars", "orchestrator.env_vars", "inference.env_vars"])
      expect(errorsOf(await resolving("rl", [BASE, `[${table}]\n${name} = "1"`]))).toEqual([
        `${table}.${name}`,
      ]);
    expect(errorsOf(await resolving("sft", [`[env_vars]\n${name} = "1"`]))).toEqual([`env_vars.${name}`]);
  });

  it("that only the launcher sets are refused with the remedy", async () => {
    const { findings } = await resolving("rl", [BASE], ["--env-vars", '{"WANDB_SHARED_MODE":"0"}']);
    expect(findings).toMatchObject([
      { path: "env_vars.WANDB_SHARED_MODE", hint: "Remove WANDB_SHARED_MODE from env_vars." },
    ]);
  });
});
