import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runSpec } from "../../../../sdk/schema/run-spec.ts";
import { parseWith } from "../../../../sdk/schema/parse.ts";
import { nativeSpec } from "../../../../sdk/config/project-folder/launch-project.ts";
import {
  resolveProject,
  type ResolveProjectParams,
} from "../../../../sdk/config/project-folder/resolve-project.ts";
import { BASE, short, withSection } from "./check.ts";
import { projectFolder } from "./folder.ts";

const DOCUMENT = new URL("../../../fixtures/project-folder/document/", import.meta.url);
const REWARDS_TS = `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`;
const ASKED = `{"messages": [{"role": "user", "content": "2 + 2?"}], "rewards": ["accuracy"]}\n`;
const TOLD = `{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}\n`;
const TYPESCRIPT = { "rewards.py": undefined, "rewards.ts": REWARDS_TS };

async function resolveFiles(files: Record<string, string | undefined>, params: ResolveProjectParams = {}) {
  return resolveProject(projectFolder(files), params);
}

describe("a project as a run", () => {
  it.each(readdirSync(DOCUMENT).filter((name) => !name.startsWith("part-")))(
    "%s resolves, on its own model and on the shipped one",
    async (name) => {
      const config = readFileSync(new URL(name, DOCUMENT), "utf8");
      const rows = config.includes("dataset_type: sft") ? TOLD : ASKED;
      const folder = projectFolder({ ...TYPESCRIPT, "config.yml": config, "train.jsonl": rows.repeat(20) });
      const own = await resolveProject(folder);
      expect(own.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      expect(own.runs.map(({ model }) => model)).toEqual(["Qwen/Qwen3-8B"]);
      const small = await resolveProject(folder, { model: "spotter/nano", teacher: "spotter/nano" });
      expect(small.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      const [run] = small.runs;
      expect(run?.plan.spec).toMatchObject({ model: { name: "spotter/nano" }, adapter: { kind: "lora" } });
      expect(run?.limits.map(({ path }) => path)).toEqual([]);
      if (!small.project || !run) return;
      // What would be sent is a spec as the control plane takes it, and stays what it is.
      const spec = await nativeSpec(small.project, run, {});
      expect(parseWith(runSpec, JSON.parse(JSON.stringify(spec)), "spec")).toEqual(spec);
      const evals = [{ evalId: "your_eval_id", everySteps: 100, name: "MATH" }];
      expect(spec.evals).toEqual(name === "full-rl.yml" ? evals : undefined);
    },
  );

  it("says of every value whence it comes", async () => {
    const config = `${withSection("trainer:\n  num_epochs: 3\n  save_step: 2")}algorithm: { kl_penalty_coef: 0.1 }\n`;
    const { runs } = await resolveFiles(
      { ...TYPESCRIPT, "config.yml": config, "train.jsonl": ASKED.repeat(10) },
      { overrides: ["data.group_size=6", "trainer.learning_rate=1e-5"], model: "spotter/nano" },
    );
    const { spec, provenance } = runs[0]?.plan ?? { spec: {}, provenance: {} };
    expect(spec).toMatchObject({
      kind: "rl",
      model: { name: "spotter/nano" },
      adapter: { rank: 32, alpha: 64 },
      rollout: { promptsPerStep: 4, samplesPerPrompt: 6, contextTokens: 1024 },
      algorithm: { klCoef: 0.1 },
      trainer: { steps: 9, learningRate: 1e-5, saveEvery: 2 },
    });
    expect(provenance).toMatchObject({
      "model.name": "--model spotter/nano",
      "adapter.alpha": "twice the rank (default)",
      "rollout.promptsPerStep": "config.yml:5",
      "rollout.samplesPerPrompt": "data.group_size=6",
      "rollout.contextTokens": "default, cut to what spotter/nano reaches",
      "algorithm.klCoef": "config.yml:7",
      "trainer.steps": "config.yml:2: 3 times 10 rows in batches of 4",
      "trainer.learningRate": "trainer.learning_rate=1e-5",
      "trainer.saveEvery": "config.yml:3",
    });
  });

  it.each([
    ["{}", { loss: "ppo", advantage: "grpo", clipLow: 0.2, clipHigh: 0.2, klCoef: 0.01 }],
    [
      "{ loss_fn: importance_sampling, adv_estimator: reinforce, kl_penalty_coef: 0 }",
      { loss: "importance_sampling", advantage: "reinforce", klCoef: 0 },
    ],
  ])("takes loss and estimator of %s as they are named (A15)", async (algorithm, expected) => {
    const config = `${BASE}algorithm: ${algorithm}\n`;
    const { runs } = await resolveFiles({ ...TYPESCRIPT, "config.yml": config });
    expect(runs[0]?.plan.spec.algorithm).toEqual({ kind: "grpo", ...expected });
  });

  it("distils with weight 1, learns from rewards with 0.01", async () => {
    const teacher = "teacher: { path: Qwen/Qwen3-32B, agentic: true }\n";
    const distill = await resolveFiles({ "config.yml": `${withSection("dataset_type: distill")}${teacher}` });
    expect(distill.runs[0]?.plan.spec).toMatchObject({
      kind: "distill",
      teacher: { model: { name: "Qwen/Qwen3-32B" }, agentic: true },
      algorithm: { kind: "distill", klCoef: 1 },
    });
    expect(distill.runs[0]?.plan.spec).not.toHaveProperty("rewards");
    expect((await resolveFiles({})).runs[0]?.plan.spec).toMatchObject({ algorithm: { klCoef: 0.01 } });
  });

  it("lowers what a substitute cannot take, and says so; without it, it is an error", async () => {
    const config = `${withSection("model: { path: Qwen/Qwen3-8B, qlora_rank: 128 }")}rollout: { max_context_window: 16384 }\n`;
    const files = {
      ...TYPESCRIPT,
      "config.yml": config,
      "catalogue.json": '{"models": {"a/b": {"maxRank": 8, "context": 512, "family": "a"}}}',
    };
    const { runs, findings } = await resolveFiles(files, { model: "a/b" });
    expect(short(findings)).toEqual([
      "W clamped 1:43 model.qlora_rank",
      "W clamped 5:32 rollout.max_context_window",
    ]);
    expect(runs[0]?.plan.spec).toMatchObject({
      adapter: { rank: 8, alpha: 16 },
      rollout: { contextTokens: 512 },
    });
    const without = await resolveFiles({ ...files, "config.yml": config.replace("Qwen/Qwen3-8B", "a/b") });
    expect(short(without.findings)).toEqual([
      "rank_exceeded 1:33 model.qlora_rank",
      "context_exceeded 5:32 rollout.max_context_window",
    ]);
    expect(without.runs).toEqual([]);
  });

  it("means folders of models as seen from the project", async () => {
    const nano = join(import.meta.dirname, "../../../../engine/models/nano");
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": withSection("model: { path: ./weights }") });
    symlinkSync(nano, join(folder, "weights"));
    const { project, runs, findings } = await resolveProject(folder);
    expect(findings).toEqual([]);
    const [run] = runs;
    if (!project || !run) throw new Error("It did not resolve.");
    expect((await nativeSpec(project, run, {})).model).toEqual({ name: join(folder, "weights") });
  });

  it.each([
    ["stored weights", "Qwen/Qwen3-0.6B", "`spotter model pull hf:Qwen/Qwen3-0.6B`"],
    ["an endpoint", "nano", "Did you mean spotter/nano?"],
    ["an endpoint like no model", "my-endpoint", "It is looked up at launch."],
  ])("takes %s for another model, and says that launch looks it up", async (_, model, hint) => {
    const files = { ...TYPESCRIPT, "config.yml": withSection("model: { path: Qwen/Qwen3-8B }") };
    const { findings, runs } = await resolveFiles(files, { model });
    expect(findings).toMatchObject([
      { code: "model_unchecked", severity: "warning", hint: expect.stringContaining(hint) as string },
    ]);
    expect(runs.map((run) => run.model)).toEqual([model]);
  });

  it.each([
    ["my-endpoint", { endpoint: "my-endpoint" }],
    ["acme/teacher", { model: { name: "acme/teacher" } }],
  ])("takes %s for another teacher", async (teacher, spec) => {
    const config = `${withSection("dataset_type: distill")}teacher: { path: Qwen/Qwen3-32B }\n`;
    const { findings, runs } = await resolveFiles({ "config.yml": config }, { teacher });
    expect(findings.map(({ code, severity }) => `${severity} ${code}`)).toContain("warning model_unchecked");
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(runs[0]?.plan.spec.teacher).toMatchObject(spec);
  });

  it("refuses for another model what nothing here can be called", async () => {
    for (const model of ["gpt-4o", "a/b/c", "-x/y", "./nowhere"])
      expect((await resolveFiles({}, { model })).findings.map(({ code }) => code)).toContain("model_unknown");
  });

  it("bounds the cost of a run by max_billing (A25)", async () => {
    const config = withSection("trainer: { num_epochs: 1, max_billing: 2.5 }").replace(
      "Qwen/Qwen3-8B",
      "spotter/nano",
    );
    const { project, runs } = await resolveFiles({ ...TYPESCRIPT, "config.yml": config });
    const [run] = runs;
    if (!project || !run) throw new Error("It did not resolve.");
    expect(run.plan.provenance["limits.maxCostUsd"]).toBe("config.yml:1");
    expect((await nativeSpec(project, run, {})).limits).toEqual({ maxCostUsd: 2.5 });
  });

  it("takes the folder's local_model where the command line names none", async () => {
    const files = { ...TYPESCRIPT, local_model: "spotter/nano\n" };
    expect((await resolveFiles(files)).runs[0]?.plan.provenance["model.name"]).toBe("local_model");
    expect((await resolveFiles(files, { model: "Qwen/Qwen3-32B" })).runs[0]?.model).toBe("Qwen/Qwen3-32B");
  });

  it("makes one run for each model of a list, and checks all of them", async () => {
    const config = withSection("model:\n  path: [Qwen/Qwen3-8B, spotter/nano]\n");
    const { runs } = await resolveFiles({ ...TYPESCRIPT, "config.yml": config });
    expect(runs.map(({ model, plan }) => [model, (plan.spec.model as { name: string }).name])).toEqual([
      ["Qwen/Qwen3-8B", "Qwen/Qwen3-8B"],
      ["spotter/nano", "spotter/nano"],
    ]);
    const bad = withSection("model: { path: [Qwen/Qwen3-8B, openai/gpt-oss-20b], qlora_rank: 64 }");
    expect(short((await resolveFiles({ "config.yml": bad })).findings)).toEqual([
      "rank_exceeded 1:65 model.qlora_rank",
    ]);
  });

  it("holds out val_split of the rows, once an epoch", async () => {
    const config = withSection("dataset_type: sft").replace("batch_size: 4", "batch_size: 2, val_split: 0.2");
    const { runs } = await resolveFiles({ "config.yml": config, "train.jsonl": TOLD.repeat(10) });
    expect(runs[0]?.plan.spec).toMatchObject({
      kind: "sft",
      dataset: { rows: 8 },
      evalDataset: { rows: 2 },
      evalEvery: 4,
      algorithm: { kind: "sft", batchSize: 2 },
      trainer: { steps: 40 },
    });
  });
});

describe("values of the command line", () => {
  it.each([
    ["data.batch_size=four", "wrong_type null:null data.batch_size"],
    ["trainer.lr=1", "unknown_key null:null trainer.lr"],
    ["batch_size=2", "unknown_key null:null batch_size"],
    ["trainer.save_step=0", "save_step_zero null:null trainer.save_step"],
    ["evals.3.step=1", "override_invalid null:null evals.3.step"],
    ["data.batch_size.x=1", "override_invalid null:null data.batch_size.x"],
    ["=1", "override_invalid null:null"],
    ["model={path: [}", "override_invalid null:null model"],
    ["__proto__.x=1", "unknown_key null:null __proto__"],
  ])("%s is refused like a line of the file (68)", async (word, expected) => {
    const files = { "config.yml": `${BASE}evals: [{ eval_id: a, step: 1 }]\n` };
    expect(short((await resolveFiles(files, { overrides: [word] })).findings)).toEqual([expected]);
  });

  it("may be numbers, lists, sections and null", async () => {
    const overrides = [
      "model.path=[spotter/nano, Qwen/Qwen3-8B]",
      "data={batch_size: 2}",
      "description=null",
      "trainer.learning_rate=1e-4",
    ];
    const { runs, findings } = await resolveFiles(TYPESCRIPT, { overrides });
    expect(findings).toEqual([]);
    expect(runs.map(({ plan }) => (plan.spec.rollout as { promptsPerStep: number }).promptsPerStep)).toEqual([
      2, 2,
    ]);
  });
});
