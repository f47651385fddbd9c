import { describe, expect, it } from "vitest";
import { nativeSpec } from "../../../../sdk/config/project-folder/launch-project.ts";
import type { ProjectDataset } from "../../../../sdk/config/project-folder/project-dataset.ts";
import {
  resolveProject,
  type ResolveProjectParams,
} from "../../../../sdk/config/project-folder/resolve-project.ts";
import { trainParams } from "../../../../sdk/config/project-folder/train-params.ts";
import { short, withSection } from "./check.ts";
import { projectFolder } from "./folder.ts";

const TOLD = `{"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}\n`;

async function resolveFiles(files: Record<string, string>, params: ResolveProjectParams = {}) {
  return resolveProject(projectFolder(files), params);
}

describe("conversations with several answers", () => {
  const twice = TOLD.replace(
    "}]",
    '}, {"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]',
  );

  it("are learnt answer by answer, and that is said", async () => {
    const files = { "config.yml": withSection("dataset_type: sft"), "train.jsonl": twice.repeat(6) };
    const { project, runs, findings } = await resolveFiles(files, { model: "spotter/nano" });
    expect(short(findings)).toEqual(["W answers_apart 2:21 data.batch_size"]);
    expect(runs[0]?.limits).toEqual([]);
    expect(runs[0]?.plan.spec).toMatchObject({ dataset: { rows: 12 }, trainer: { steps: 30 } });
    expect(runs[0]?.plan.provenance["trainer.steps"]).toBe(
      "config.yml:4: 10 times 12 answers in batches of 4",
    );
    if (!project || !runs[0]) throw new Error("It did not resolve.");
    expect((await nativeSpec(project, runs[0], {})).dataset.rows).toBe(12);
  });

  it("are learnt as they stand where tools are called: calls too, and a batch counts conversations", async () => {
    const called = JSON.stringify({
      messages: [
        { role: "user", content: "2 + $b?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "1", type: "function", function: { name: "add", arguments: '{"a": 2}' } }],
        },
        { role: "tool", tool_call_id: "1", content: "4" },
        { role: "assistant", content: "It is 4." },
      ],
      variables: { b: 2 },
    });
    const config = withSection("dataset_type: sft").replace("batch_size: 4", "batch_size: 2, val_split: 0.2");
    const files = { "config.yml": config, "train.jsonl": `${called}\n`.repeat(4) + twice };
    const { project, runs, findings } = await resolveFiles(files, { model: "spotter/nano" });
    expect(findings).toEqual([]);
    const [run] = runs;
    expect(run?.limits).toEqual([]);
    if (!project || !run) throw new Error("It did not resolve.");
    expect(run.plan.provenance["algorithm.learnRoles"]).toBe("train.jsonl: its answers call tools");
    expect(run.plan.provenance["trainer.steps"]).toBe("config.yml:4: 10 times 4 rows in batches of 2");
    const spec = await nativeSpec(project, run, {});
    expect(spec).toMatchObject({
      algorithm: { kind: "sft", batchSize: 2, learnRoles: ["assistant"] },
      dataset: { rows: 4 },
      evalDataset: { rows: 1 },
      trainer: { steps: 20 },
    });
    const { dataset } = trainParams(project, run.plan);
    for await (const { prompt, completion } of (dataset as ProjectDataset).checked()) {
      expect(completion).toBeUndefined();
      expect(prompt.map(({ content }) => content)).toEqual(["2 + 2?", "", "4", "It is 4."]);
    }
  });

  it("are held out whole", async () => {
    const config = withSection("dataset_type: sft").replace(
      "batch_size: 4",
      "batch_size: 2, val_split: 0.25",
    );
    const { project, runs } = await resolveFiles({
      "config.yml": config,
      "train.jsonl": `${TOLD.repeat(6)}${twice.repeat(2)}`,
    });
    expect(runs[0]?.plan.spec).toMatchObject({
      dataset: { rows: 6 },
      evalDataset: { rows: 4 },
      trainer: { steps: 30 },
    });
    if (!project || !runs[0]) throw new Error("It did not resolve.");
    const { dataset, evalDataset, trainer } = await nativeSpec(project, runs[0], {});
    expect([dataset.rows, evalDataset?.rows, trainer.steps]).toEqual([6, 4, 30]);
  });
});
