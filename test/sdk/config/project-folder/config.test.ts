import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CATALOGUE } from "../../../../sdk/config/project-folder/catalogue.ts";
import { BASE, checkText, short, withSection } from "./check.ts";
import { FORM } from "./config-cases.ts";

const DOCUMENT = new URL("../../../fixtures/project-folder/document/", import.meta.url);
const documented = readdirSync(DOCUMENT).map((name): [string, string] => [
  name.slice(0, -4),
  readFileSync(new URL(name, DOCUMENT), "utf8"),
]);
const whole = documented.filter(([name]) => !name.startsWith("part-"));
const parts = documented.filter(([name]) => name.startsWith("part-"));

describe("the configurations of the document", () => {
  it("are all here", () => expect([whole.length, parts.length]).toEqual([9, 7]));

  it.each(whole)("%s is valid as it stands", (_, text) => {
    const { config, findings } = checkText(text);
    expect(short(findings)).toEqual([]);
    expect(config).toBeDefined();
  });

  it.each(parts)("%s is valid within a project", (name, part) => {
    const isDistill = name === "part-teacher";
    const text = withSection(part).replace(
      "dataset_type: rl",
      `dataset_type: ${isDistill ? "distill" : "rl"}`,
    );
    const { config, findings } = checkText(text);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(config).toBeDefined();
  });
});

describe("config.yml", () => {
  it.each(FORM)("%s", (_, text, expected) => expect(short(checkText(text).findings)).toEqual(expected));

  it("tells all that is wrong at once, rules of valid keys included", () => {
    const text = `dataset_type: rl
data: { batch_size: 99, group_sise: 4 }
model: { path: Qwen/Qwen3-30B-A3B, qlora_rank: 100 }
trainer: { save_step: 0 }
rollout: { max_tokens: 100 }
`;
    expect(short(checkText(text).findings).sort()).toEqual([
      "legacy_key 5:12 rollout.max_tokens",
      "missing_key 4:1 trainer.num_epochs",
      "out_of_range 2:21 data.batch_size",
      "rank_exceeded 3:48 model.qlora_rank",
      "save_step_zero 4:23 trainer.save_step",
      "unknown_key 2:25 data.group_sise",
    ]);
  });

  it.each([
    ["model: { path: Qwen/Qwen3-8B, qlora_rnk: 8 }", "Did you mean model.qlora_rank?"],
    ["trainer: { num_epochs: 1, lr: 1 }", "Did you mean trainer.learning_rate?"],
    ["trainer: { num_epochs: 1, batch_size: 4 }", "Did you mean data.batch_size?"],
    ["datset_type: rl", "Did you mean dataset_type?"],
    ["zebra: 1", "Known here: project_id, project_name"],
    ["model: { path: Qwen/Qwen3-4B }", "Did you mean Qwen/Qwen3-4B-Instruct-2507?"],
    ["model: { path: Qwen3-8B }", "Did you mean Qwen/Qwen3-8B?"],
    ["model: { path: qwen/qwen3-8b }", "Did you mean Qwen/Qwen3-8B?"],
    ["dataset_type: stf", "Did you mean sft?"],
    ["rollout: { thinking_mode: hard }", "hard is high"],
    ["project_name: 2024-01-01", '"2024-01-01"'],
    ["evals: 5", "Write a list."],
    ["rollout: 5", "Write a section: keys and values below it."],
    ["data: { batch_size: [4] }", "Write a number."],
    ["model: { path: me/mine }", "`spotter model pull hf:me/mine` and then named with `--model me/mine`"],
    [
      "model: { path: hf:me/mine@main }",
      "`spotter model pull hf:me/mine` and then named with `--model me/mine`",
    ],
    ["model: { path: /nowhere }", "`spotter model pull hf:OWNER/MODEL`"],
    ["model: { path: nobody }", "`spotter model pull hf:OWNER/MODEL --name nobody`"],
  ])("%s: the remedy names what was meant", (section, hint) => {
    expect(checkText(withSection(section)).findings[0]?.hint).toContain(hint);
  });

  it.each([
    ["hf:me/mine", "`spotter model pull hf:me/mine` and then named with `--teacher me/mine`"],
    ["/nowhere", "`spotter model pull hf:OWNER/MODEL`"],
  ])("names how a teacher comes here that a project gives as %s", (name, hint) => {
    const { findings } = checkText(`${BASE.replace("rl", "distill")}teacher: { path: ${name} }\n`);
    expect(findings.find(({ code }) => code === "teacher_unsupported")?.hint).toContain(hint);
  });

  it("reads numbers and truth values as forgivingly as they were read before", () => {
    const text = `dataset_type: rl
data: { batch_size: "4", group_size: 0x10 }
model: { path: Qwen/Qwen3-8B, qlora_rank: 16.0 }
trainer: { num_epochs: 1_0, learning_rate: 1e-4 }
rollout: { include_thinking: yes, max_turns: 010, reasoning_mode: off }
`;
    const { config, findings } = checkText(text);
    expect(config).toMatchObject({
      data: { batch_size: 4, group_size: 16 },
      model: { qlora_rank: 16 },
      trainer: { num_epochs: 10, learning_rate: 1e-4 },
      rollout: { include_thinking: true, max_turns: 8, reasoning_mode: "disabled" },
    });
    expect(short(findings)).toEqual(["W wrong_type 5:67 rollout.reasoning_mode"]);
  });

  it("fills in the defaults of the format", () => {
    expect(checkText(BASE + "rollout: {}\nalgorithm: {}\n").config).toMatchObject({
      data: { train_file: "train.jsonl", group_size: 4, val_split: null },
      model: { qlora_rank: 32, qlora_alpha: null },
      algorithm: { loss_fn: "ppo", adv_estimator: "grpo" },
      rollout: {
        max_turns: 1,
        max_context_window: 32_768,
        termination_policy: "last_tool",
        tool_timeout: 60,
      },
      trainer: { learning_rate: 1e-4, save_step: -1, max_billing: null },
      evals: [],
    });
  });

  it("reads config.json by the same rules", () => {
    const json = JSON.stringify({
      dataset_type: "rl",
      data: { batch_size: 4 },
      model: { path: "Qwen/Qwen3-8B" },
      trainer: { num_epochs: 1, save_step: 0 },
    });
    const { findings } = checkText(json, "config.json");
    expect(short(findings)).toEqual([`save_step_zero 1:${json.indexOf("0}}") + 1} trainer.save_step`]);
  });

  it.each(["", "# nothing\n", "- a\n", "words", "12"])("says that %j holds no configuration", (text) => {
    expect(checkText(text).findings.map(({ code }) => code)).toEqual(["config_syntax"]);
  });
});

describe("the catalogue", () => {
  it("has the models of the document with their ranks, tools and eyes", () => {
    const own = Object.entries(CATALOGUE).filter(([name]) => name !== "spotter/nano");
    const count = (rank: number) => own.filter(([, { maxRank }]) => maxRank === rank).length;
    expect([own.length, count(128), count(64), count(32)]).toEqual([21, 10, 8, 3]);
    const without = own.filter(([, { tools }]) => !tools).map(([name]) => name);
    expect(without.sort()).toEqual([
      "Qwen/Qwen3-30B-A3B-Base",
      "Qwen/Qwen3-8B-Base",
      "deepseek-ai/DeepSeek-V3.1-Base",
      "meta-llama/Llama-3.1-70B",
      "meta-llama/Llama-3.1-8B",
      "meta-llama/Llama-3.2-1B",
      "meta-llama/Llama-3.2-3B",
      "openai/gpt-oss-120b",
      "openai/gpt-oss-20b",
    ]);
    expect(own.filter(([, { vision }]) => vision).map(([name]) => name)).toEqual([
      "Qwen/Qwen3-VL-30B-A3B-Instruct",
      "Qwen/Qwen3-VL-235B-A22B-Instruct",
    ]);
  });
});
