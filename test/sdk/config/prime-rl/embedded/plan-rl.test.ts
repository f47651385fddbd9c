import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { planRl } from "../../../../../sdk/config/prime-rl/embedded/plan-rl.ts";
import { ENTRYPOINTS } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";
import type { RlConfig } from "../../../../../sdk/config/prime-rl/rules/configs.ts";

const BASE = `max_steps = 20
seq_len = 512
[model]
name = "spotter/nano"
[trainer.optim]
lr = 1e-3
[orchestrator]
batch_size = 32
group_size = 8
[orchestrator.renderer]
name = "default"
[orchestrator.train.sampling]
max_completion_tokens = 24
[[orchestrator.train.env]]
id = "reverse-text"
args = { words = 1 }
`;

async function plan(words: string[] = [], toml = BASE) {
  const readBytes = () => new TextEncoder().encode(toml);
  const { config, provenance, findings } = await resolve(ENTRYPOINTS.rl, ["@", "rl.toml", ...words], {
    readBytes,
  });
  if (config === null) throw new Error(JSON.stringify(findings, null, 2));
  return planRl(config as unknown as RlConfig, provenance, import.meta.dirname);
}

const errorsOf = async (words: string[], toml?: string) => {
  const { params, findings } = await plan(words, toml);
  expect(params).toBeNull();
  return findings
    .filter(({ severity }) => severity === "error")
    .map(({ path, message }) => `${path}: ${message}`);
};

describe("planRl", () => {
  it("distils on the policy's own rollouts from a frozen teacher", async () => {
    const teacher = { name: "big", base_url: ["http://127.0.0.1:9/v1"] };
    const opd = (more: object = {}) => [
      "--orchestrator.algo.type",
      "opd",
      "--orchestrator.algo.teacher",
      JSON.stringify({ ...teacher, ...more }),
    ];
    const { params, findings } = await plan(opd());
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(params).toMatchObject({
      recipe: { kind: "distill", algorithm: { kind: "distill" }, rollout: { samplesPerPrompt: 8 } },
      teacher: { url: { baseUrl: "http://127.0.0.1:9/v1", model: "big" }, agentic: true },
    });
    expect(params?.teacher).not.toHaveProperty("url.secret");
    const keyed = await plan(opd({ api_key_var: "BIG_KEY" }));
    expect(keyed.params?.teacher).toHaveProperty("url.secret", "BIG_KEY");
    expect(await errorsOf(opd({ base_url: ["http://a.test/v1", "http://b.test/v1"] }))).toEqual([
      "orchestrator.algo.teacher.base_url: The teacher is asked at one address.",
    ]);
    expect(await errorsOf(opd({ headers: { "x-team": "a" } }))).toHaveLength(1);
  });

  it("makes a training of what it honours", async () => {
    const { params, findings } = await plan([
      "--ckpt.interval",
      "5",
      "--ckpt.keep-last",
      "2",
      "--wandb.name",
      "first",
      "--wandb.tags",
      "a",
      "b",
      "--env-vars",
      '{"COLOR":"blue","SHAPE":"round"}',
      "--inference.env-vars",
      '{"SIDE":"left"}',
      "--trainer.env-vars",
      '{"SHAPE":"flat"}',
      "--trainer.model.lora.rank",
      "4",
      "--trainer.optim.weight-decay",
      "0",
    ]);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(params).toMatchObject({
      model: "spotter/nano",
      name: "first",
      tags: ["a", "b"],
      env: { COLOR: "blue", SHAPE: "flat", SIDE: "left" },
      retention: { keepLast: 2 },
      adapter: { kind: "lora", rank: 4, alpha: 32 },
      environments: [{ export: "reverseText", name: "reverse-text", args: { words: 1 }, ratio: 1 }],
      recipe: {
        kind: "rl",
        algorithm: { kind: "grpo", normalizeStd: false, klCoef: 0 },
        rollout: {
          promptsPerStep: 4,
          samplesPerPrompt: 8,
          maxTokens: 24,
          temperature: 1,
          contextTokens: 512,
        },
        trainer: { steps: 20, learningRate: 1e-3, beta1: 0.9, beta2: 0.999, weightDecay: 0, saveEvery: 5 },
        evalEvery: null,
      },
    });
  });

  it.each<[string[], object]>([
    [
      [],
      {
        loss: "dppo",
        maskLow: 0.2,
        maskHigh: 0.2,
        driftCoef: 1e-3,
        advantageScale: 1,
        advantage: "grpo",
        normalizer: "token",
      },
    ],
    [
      ["--trainer.loss.dppo-mask-low", "0.1", "--trainer.loss.dppo-mask-high", "0.3"],
      { loss: "dppo", maskLow: 0.1, maskHigh: 0.3 },
    ],
    [["--trainer.loss.kl-tau", "0", "--trainer.loss.adv-tau", "0.5"], { driftCoef: 0, advantageScale: 0.5 }],
    [
      ["--trainer.loss.type", "ipo", "--trainer.loss.ipo-threshold", "0.05"],
      { loss: "ipo", maskHigh: 0.05, driftCoef: 1e-3 },
    ],
    [["--orchestrator.algo.type", "max_rl"], { advantage: "max_rl" }],
    [
      ["--orchestrator.algo.length-penalty.num-turns-weight", "0.5"],
      { lengthPenalty: { outputTokens: 0.25, inputTokens: 0.1, turns: 0.5 } },
    ],
  ])("learns with the loss and the algorithm of %o", async (words, algorithm) => {
    const { params, findings } = await plan(words);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(params?.recipe.algorithm).toMatchObject(algorithm);
    expect(findings.map(({ message }) => message).join()).not.toContain("loss");
  });

  it("lowers a window that the model does not have, and says so (B55)", async () => {
    const { params, findings } = await plan(["--seq-len", "4096"]);
    expect(params?.recipe.rollout).toMatchObject({ contextTokens: 1024 });
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "clamped", severity: "warning", path: "seq_len" }),
    );
    const alone = BASE.replace("seq_len = 512\n", "").replace(
      "[orchestrator]",
      "[orchestrator]\nseq_len = 2048",
    );
    expect((await plan([], alone)).findings).toContainEqual(
      expect.objectContaining({ code: "clamped", path: "orchestrator.seq_len", file: "rl.toml", line: 7 }),
    );
  });

  it("lowers a rank that the model is not wide enough for, with the adapter's weight kept (B55)", async () => {
    const { params, findings } = await plan([
      "--trainer.model.lora.rank",
      "256",
      "--trainer.model.lora.alpha",
      "64",
    ]);
    expect(params?.adapter).toMatchObject({ rank: 128, alpha: 32 });
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "clamped", severity: "warning", path: "trainer.model.lora.rank" }),
    );
  });

  it("mixes environments by their ratio, with turns and names of their own (B21)", async () => {
    const two = `${BASE}name = "one"\nratio = 3\n[[orchestrator.train.env]]\nid = "primeintellect/wordle"\nmax_turns = 2\n[[orchestrator.train.env]]\nid = "./plan-rl.test.ts#chess"\nname = "mine"\n`;
    const { params } = await plan([], two);
    expect(params?.environments).toMatchObject([
      { name: "one", ratio: 3 },
      { name: "primeintellect/wordle", export: "wordle", ratio: 1, maxTurns: 2 },
      { name: "mine", file: join(import.meta.dirname, "plan-rl.test.ts"), export: "chess" },
    ]);
  });

  it("evaluates in environments of their own", async () => {
    const held = `${BASE}[orchestrator.eval]\ninterval = 4\nskip_first_step = true\n[[orchestrator.eval.env]]\nid = "reverse-text"\nnum_examples = 10\n`;
    const { params } = await plan([], held);
    expect(params).toMatchObject({
      evalEnvironments: [{ name: "eval reverse-text", maxTasks: 10 }],
      recipe: { evalEvery: 4 },
    });
  });

  it.each([
    [
      ["--trainer.optim.type", "sgd", "--trainer.optim.momentum", "0"],
      "trainer.optim.nesterov: There is no momentum to look ahead along.",
    ],
    [
      ["--trainer.optim.type", "muon", "--trainer.optim.mu", "1"],
      "trainer.optim.mu: 1 is not from 0 to below 1.",
    ],
    [["--orchestrator.group-size", "1"], "orchestrator.group_size: Answers are compared within a group"],
    [
      ["--orchestrator.algo.type", "echo"],
      "orchestrator.algo.type: The embedded engine has grpo, max_rl and opd, not echo",
    ],
    [
      ["--trainer.loss.type", "custom", "--trainer.loss.import-path", "mine.loss"],
      "trainer.loss.import_path: The embedded engine has no trainer.loss.import_path",
    ],
    [
      ["--trainer.scheduler.type", "linear", "--trainer.scheduler.warmup-steps", "15"],
      "trainer.scheduler.decay_steps: The schedule takes 25 steps, and there are 20.",
    ],
    [
      ["--trainer.scheduler.type", "cosine", "--trainer.scheduler.min-lr", "1"],
      "trainer.scheduler.min_lr: It is 1, and the rate never is above",
    ],
    [["--max-steps", "None"], "max_steps: A run on one machine needs an end."],
    [["--max-steps", "0"], "max_steps: 0 steps train nothing."],
    [["--orchestrator.train.env.0.id", "./none.ts"], "orchestrator.train.env.0.id: There is no file /"],
    [["--orchestrator.train.env.0.id", "./"], "orchestrator.train.env.0.id: There is no file /"],
    [
      ["--orchestrator.train.env.0.id", "wordel"],
      'orchestrator.train.env.0.id: There is no environment "wordel" here.',
    ],
    [
      ["--orchestrator.train.env.0.harness.id", "codex"],
      "orchestrator.train.env.0.harness.id: The harness codex",
    ],
    [["--ckpt.resume-step", "3"], "ckpt.resume_step: The embedded engine has no ckpt.resume_step"],
  ])("refuses %o with the reason", async (words, message) => {
    expect((await errorsOf(words)).join("\n")).toContain(message);
  });

  it.each([
    [["sgd", "--trainer.optim.momentum", "0.5"], { optimizer: "sgd", momentum: 0.5, nesterov: true }],
    [["muon"], { optimizer: "muon", momentum: 0.95, beta1: 0.9, beta2: 0.95 }],
    [["sign_sgd"], { optimizer: "sign_sgd" }],
    [["adamw", "--trainer.optim.betas2", "0.9"], { optimizer: "adamw", beta1: 0.9, beta2: 0.9 }],
  ])("optimizes with %o", async ([type = "", ...words], trainer) => {
    const { params } = await plan([
      "--trainer.optim.type",
      type,
      "--trainer.optim.weight-decay",
      "0.2",
      ...words,
    ]);
    expect(params?.recipe.trainer).toMatchObject({ ...trainer, weightDecay: 0.2 });
  });

  it.each([
    [
      ["linear", "--trainer.scheduler.min-lr", "1e-7"],
      { schedule: "linear", warmupSteps: 10, decaySteps: 10 },
    ],
    [["cosine", "--trainer.scheduler.min-lr", "1e-7"], { schedule: "cosine", warmupSteps: 10 }],
  ])("moves the learning rate as %o", async ([type = "", ...words], trainer) => {
    const { params } = await plan(["--trainer.scheduler.type", type, ...words]);
    expect(params?.recipe.trainer).toMatchObject({ ...trainer, minLearningRate: 1e-7 });
  });

  it("trains without SLURM where it is asked for, and says so", async () => {
    const { params, findings } = await plan([], `${BASE}[slurm]\njob_name = "a"\n`);
    expect(params).not.toBeNull();
    expect(findings).toContainEqual(
      expect.objectContaining({ severity: "warning", message: "The gym schedules instead of SLURM." }),
    );
  });

  it("tells everything at once", async () => {
    const errors = await errorsOf(["--trainer.optim.lr", "0", "--orchestrator.group-size", "1"]);
    expect(errors.length).toBeGreaterThanOrEqual(2);
  });
});
