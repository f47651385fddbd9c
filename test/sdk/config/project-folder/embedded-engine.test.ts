import { describe, expect, it } from "vitest";
import { resolveProject } from "../../../../sdk/config/project-folder/resolve-project.ts";
import { BASE, withSection } from "./check.ts";
import { projectFolder } from "./folder.ts";

const REWARDS_TS = `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`;
const ASKED = `{"messages": [{"role": "user", "content": "2 + 2?"}], "rewards": ["accuracy"]}\n`;
const TOLD = `{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}\n`;
const TYPESCRIPT = { "rewards.py": undefined, "rewards.ts": REWARDS_TS };

/** `[what, files, the paths of what is refused]` */
const REFUSED: [string, Record<string, string | undefined>, string[]][] = [
  ["rewards.py", {}, ["dataset_type"]],
  ["gae", { ...TYPESCRIPT, "config.yml": `${BASE}algorithm: { adv_estimator: gae }\n` }, []],
  [
    "gae of single answers",
    {
      ...TYPESCRIPT,
      "config.yml": `${withSection("data: { batch_size: 4, group_size: 1 }")}algorithm: { adv_estimator: gae }\n`,
    },
    [],
  ],
  ["reinforce", { ...TYPESCRIPT, "config.yml": `${BASE}algorithm: { adv_estimator: reinforce }\n` }, []],
  [
    "reinforce of single answers",
    {
      ...TYPESCRIPT,
      "config.yml": `${withSection("data: { batch_size: 4, group_size: 1 }")}algorithm: { adv_estimator: reinforce }\n`,
    },
    [],
  ],
  [
    "reinforce of one answer",
    {
      ...TYPESCRIPT,
      "config.yml": `${withSection("data: { batch_size: 1, group_size: 1 }")}algorithm: { adv_estimator: reinforce }\n`,
    },
    ["data.batch_size"],
  ],
  [
    "a group of one",
    { ...TYPESCRIPT, "config.yml": withSection("data: { batch_size: 4, group_size: 1 }") },
    ["data.group_size"],
  ],
  [
    "a mixture of experts",
    { ...TYPESCRIPT, "config.yml": withSection("model: { path: Qwen/Qwen3-30B-A3B }") },
    ["model.path"],
  ],
  [
    "MCP",
    {
      ...TYPESCRIPT,
      "config.yml": `${BASE}rollout: { mcp_url: "https://x.io/mcp", max_turns: 2, reasoning_mode: disabled }\n`,
    },
    ["rollout.mcp_url"],
  ],
  [
    "containers",
    { ...TYPESCRIPT, "train.jsonl": ASKED.replace('"rewards"', '"docker": "python", "rewards"').repeat(4) },
    ["data.train_file"],
  ],
  [
    "answers in parts",
    {
      "config.yml": withSection("dataset_type: sft"),
      "train.jsonl": TOLD.replace('"content": "4"', '"content": [{"type": "text", "text": "4"}]').repeat(4),
    },
    ["data.train_file"],
  ],
  [
    "importance sampling",
    { ...TYPESCRIPT, "config.yml": `${BASE}algorithm: { loss_fn: importance_sampling }\n` },
    [],
  ],
];

describe("what the embedded engine cannot do", () => {
  it.each(REFUSED)("%s is refused with the nearest that can", async (_, files, expected) => {
    const { runs, findings } = await resolveProject(projectFolder(files));
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(runs[0]?.limits.map(({ path }) => path)).toEqual(expected);
    for (const { code, hint } of runs[0]?.limits ?? [])
      expect([code, hint]).toEqual(["engine_unsupported", expect.stringMatching(/\.$/)]);
  });
});
