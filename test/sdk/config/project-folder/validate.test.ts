import { describe, expect, it } from "vitest";
import { validateProject } from "../../../../sdk/config/project-folder/validate.ts";
import { BASE, short, withSection } from "./check.ts";
import { projectFolder, REWARDS_PY } from "./folder.ts";

async function check(files: Record<string, string | undefined>): Promise<string[]> {
  const { ok, findings } = await validateProject(projectFolder(files));
  expect(ok).toBe(findings.every(({ severity }) => severity === "warning"));
  return findings.map((finding) => `${finding.file} ${short([finding])[0]}`);
}

const ask = (more: object) => `${JSON.stringify({ messages: [{ role: "user", content: "?" }], ...more })}\n`;
const TOOLS_PY = `from rnow.core import tool

@tool
def search(query: str) -> str:
    """Looks it up."""
    return query
`;
const BASE_MODEL = withSection("model: { path: Qwen/Qwen3-8B-Base }");
const REWARDS_TS = `import { reward } from "spotter";
export const accuracy = reward(() => 1);
export const helper = 3;
`;

describe("a project folder", () => {
  it("may be valid", async () => expect(await check({})).toEqual([]));

  it("may be of TypeScript", async () => {
    expect(await check({ "rewards.py": undefined, "rewards.ts": REWARDS_TS })).toEqual([]);
    const unknown = ask({ rewards: ["helper"] }).repeat(4);
    expect(
      await check({ "rewards.py": undefined, "rewards.ts": REWARDS_TS, "train.jsonl": unknown }),
    ).toContain("train.jsonl reward_unknown 1:56 rewards.0");
  });

  /** The seven rules of the format, in its order. */
  it.each([
    [
      "1: batch_size times group_size",
      { "config.yml": withSection("data: { batch_size: 33, group_size: 64 }") },
      "config.yml concurrency_exceeded 1:21 data.batch_size",
    ],
    [
      "2: the rank",
      { "config.yml": withSection("model: { path: openai/gpt-oss-20b, qlora_rank: 33 }") },
      "config.yml rank_exceeded 1:48 model.qlora_rank",
    ],
    [
      "3: rewards exist",
      { "train.jsonl": ask({ rewards: ["acuracy"] }).repeat(4) },
      "train.jsonl reward_unknown 1:56 rewards.0",
    ],
    [
      "4: tools exist",
      { "tools.py": TOOLS_PY, "train.jsonl": ask({ rewards: ["accuracy"], tools: ["serch"] }).repeat(4) },
      "train.jsonl tool_unknown 1:77 tools.0",
    ],
    [
      "5: sandbox needs docker",
      { "rewards.py": REWARDS_PY.replace("@reward", "@reward(sandbox=True)") },
      "train.jsonl docker_missing 1:67 rewards.0",
    ],
    [
      "6: distillation needs a teacher",
      { "config.yml": withSection("dataset_type: distill") },
      "config.yml teacher_missing 1:1 teacher",
    ],
    [
      "7: save_step is not 0",
      { "config.yml": withSection("trainer: { num_epochs: 1, save_step: 0 }") },
      "config.yml save_step_zero 1:38 trainer.save_step",
    ],
  ] as [string, Record<string, string>, string][])("keeps rule %s", async (_, files, expected) => {
    expect(await check(files)).toContain(expected);
  });

  it.each([
    ["9: no config", { "config.yml": undefined }, ["config.yml config_missing null:null"]],
    ["no train.jsonl", { "train.jsonl": undefined }, ["train.jsonl rows_missing null:null"]],
    ["no rewards", { "rewards.py": undefined }, ["rewards.ts code_missing null:null"]],
    [
      "18: fewer rows than a batch",
      { "train.jsonl": ask({ rewards: ["accuracy"] }) },
      ["config.yml rows_few 2:21 data.batch_size"],
    ],
    [
      "23: tools for a base model",
      { "config.yml": BASE_MODEL, "tools.py": TOOLS_PY },
      [
        "config.yml W tools_single_turn 1:1 rollout.max_turns",
        "config.yml tools_unsupported 1:16 model.path",
      ],
    ],
    [
      "23: a server for gpt-oss",
      {
        "config.yml": `${withSection("model: { path: openai/gpt-oss-20b }")}rollout: { mcp_url: "https://x.io/mcp", max_turns: 2 }\n`,
      },
      ["config.yml tools_unsupported 1:16 model.path"],
    ],
    [
      "36: another file of rows",
      {
        "config.yml": withSection("data: { batch_size: 4, train_file: other.jsonl }"),
        "other.jsonl": ask({ rewards: ["accuracy"] }).repeat(4),
        "train.jsonl": undefined,
      },
      [],
    ],
    [
      "38: tools.py without a tool",
      { "config.yml": BASE_MODEL, "tools.py": "import os\n" },
      ["tools.py W code_empty null:null"],
    ],
    [
      "40: rewards.py without a reward",
      { "rewards.py": "import os\n" },
      [
        ...[1, 2, 3, 4].map((line) => `train.jsonl reward_unknown ${line}:67 rewards.0`),
        "rewards.py code_empty null:null",
      ],
    ],
    [
      "54: saved never",
      { "config.yml": withSection("trainer: { num_epochs: 2, save_step: 3 }") },
      ["config.yml W steps_short 1:38 trainer.save_step"],
    ],
    [
      "54: an eval never",
      { "config.yml": withSection("evals: [{ eval_id: abc, step: 11 }]") },
      ["config.yml W steps_short 1:31 evals.0.step"],
    ],
    [
      "55: tools and one turn",
      { "tools.py": TOOLS_PY, "config.yml": `${BASE}rollout: { max_turns: 1 }\n` },
      ["config.yml W tools_single_turn 5:23 rollout.max_turns"],
    ],
    ["tools and two turns", { "tools.py": TOOLS_PY, "config.yml": `${BASE}rollout: { max_turns: 2 }\n` }, []],
    [
      "a distillation with tools",
      {
        "tools.py": TOOLS_PY,
        "config.yml": `${withSection("dataset_type: distill")}teacher: { path: Qwen/Qwen3-32B }\n`,
      },
      ["config.yml W tools_ignored 5:1 teacher"],
    ],
    [
      "an agentic one",
      {
        "tools.py": TOOLS_PY,
        "config.yml": `${withSection("dataset_type: distill")}teacher: { path: Qwen/Qwen3-32B, agentic: true }\nrollout: { max_turns: 3 }\n`,
      },
      [],
    ],
    ["one name in two files", { "rewards.ts": REWARDS_TS }, ["rewards.py code_twice 4:5 accuracy"]],
    [
      "TypeScript that does not bundle",
      { "rewards.py": undefined, "rewards.ts": "import x from 'nowhere';\nexport const a = x" },
      ["rewards.ts code_syntax 1:15"],
    ],
    [
      "a reward that the language has something else for",
      {
        "rewards.py": undefined,
        "rewards.ts": REWARDS_TS.replaceAll("accuracy", "toString"),
        "train.jsonl": ask({ rewards: ["toString"] }).repeat(4),
      },
      ["rewards.ts code_refused 2:14 toString"],
    ],
    [
      "25: requirements of another format",
      { "requirements.txt": "[project]\n" },
      ["requirements.txt requirements_invalid 1:1"],
    ],
    [
      "a Dockerfile",
      {
        "Dockerfile.x": "FROM scratch\n",
        "train.jsonl": ask({ rewards: ["accuracy"], docker: "local/x" }).repeat(4),
      },
      [],
    ],
    [
      "64: a key that was never filled in",
      { ".env": "EXA_KEY=YOUR_EXA_API_KEY\n" },
      [".env W secret_placeholder 1:1 EXA_KEY"],
    ],
    [
      "a key that is nowhere",
      { "config.yml": `${BASE}rollout: { mcp_url: "https://x.io/?key=\${EXA_KEY}", max_turns: 2 }\n` },
      ["config.yml W secret_missing 5:21 rollout.mcp_url"],
    ],
    [
      "a key in .env",
      {
        "config.yml": `${BASE}rollout: { mcp_url: "https://x.io/?key=\${EXA_KEY}", max_turns: 2 }\n`,
        ".env": "EXA_KEY=a\n",
      },
      [],
    ],
    [
      "50: metadata that a reward reads",
      {
        "rewards.py": REWARDS_PY.replace(
          "return 1.0",
          'return 1.0 if args.metadata["gold"] else args.metadata.get("x", 0)',
        ),
        "train.jsonl":
          ask({ rewards: ["accuracy"] }) + ask({ rewards: ["accuracy"], metadata: { gold: 1 } }).repeat(3),
      },
      ["train.jsonl W metadata_missing 1:1 metadata"],
    ],
    [
      "59: val_split of less than a row",
      {
        "config.yml": withSection("dataset_type: sft").replace(
          "batch_size: 4",
          "batch_size: 4, val_split: 0.1",
        ),
        "train.jsonl":
          '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'.repeat(
            4,
          ),
        "rewards.py": undefined,
      },
      ["config.yml W val_split_small 2:35 data.val_split"],
    ],
    [
      "62: an answer of a tool as long as the window",
      { "config.yml": `${BASE}rollout: { max_tool_response: 32768 }\n` },
      ["config.yml W tool_response_window 5:31 rollout.max_tool_response"],
    ],
    ["an older file", { "env.py": TOOLS_PY }, ["env.py W legacy_file null:null"]],
    ["two configurations", { "config.json": "{}" }, ["config.json W config_ambiguous null:null"]],
    [
      "a model of one's own",
      {
        "config.yml": withSection("model: { path: me/mine, qlora_rank: 9 }"),
        "catalogue.json": '{"models": {"me/mine": {"maxRank": 8, "context": 2048, "family": "me"}}}',
      },
      ["config.yml rank_exceeded 1:37 model.qlora_rank"],
    ],
    [
      "a catalogue that does not fit",
      { "catalogue.json": '{"models": {"me/mine": {"maxRank": "8", "context": 2048, "family": "me"}}}' },
      ["catalogue.json wrong_type 1:36 models.me/mine.maxRank"],
    ],
    [
      "midtrain",
      {
        "config.yml": withSection("dataset_type: midtrain"),
        "train.jsonl": '{"text": "a"}\n'.repeat(4),
        "rewards.py": undefined,
      },
      [],
    ],
    [
      "sft",
      {
        "config.yml": withSection("dataset_type: sft"),
        "train.jsonl":
          '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}\n'.repeat(
            4,
          ),
        "rewards.py": undefined,
      },
      [],
    ],
  ] as [string, Record<string, string | undefined>, string[]][])("%s", async (_, files, expected) => {
    expect(await check(files)).toEqual(expected);
  });

  it("counts what is too much of a kind, in each file", async () => {
    const keys = Array.from({ length: 250 }, (_, index) => `k${index}: 1`).join("\n");
    const folder = projectFolder({ "config.yml": `${BASE}${keys}\n`, ".env": "nothing\n".repeat(201) });
    const { findings } = await validateProject(folder);
    const of = (code: string) => findings.filter((each) => each.code === code);
    expect(of("unknown_key")).toHaveLength(201);
    expect(of("env_invalid")).toHaveLength(201);
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "unknown_key", line: null, message: "50 more findings of this kind" }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ file: ".env", message: "1 more finding of this kind" }),
    );
  });

  it("tells all files' findings in one order", async () => {
    const files = (
      await check({ "config.yml": "zebra: 1\n", "train.jsonl": "{\n", "rewards.py": "x = (" })
    ).map((each) => each.split(" ")[0]);
    expect([...new Set(files)]).toEqual(["config.yml", "train.jsonl", "rewards.py"]);
  });
});
