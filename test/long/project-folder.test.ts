import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { main } from "../../sdk/cli/main.ts";
import { Run } from "../../sdk/index.ts";
import { initProject } from "../../sdk/config/project-folder/init-project.ts";
import { TEMPLATES } from "../../sdk/config/project-folder/templates/index.ts";
import { ownHome } from "../e2e/home.ts";

const EXAMPLE = new URL("../../examples/project-folder/", import.meta.url);
const { home } = ownHome();

it("trains the example's poems, and gives the folder its id", async () => {
  const folder = join(home, "example");
  cpSync(EXAMPLE, folder, { recursive: true });
  expect(await main(["run", "-d", folder, "--watch"])).toBe(0);
  const [id = ""] = /^project_id: ".+"$/m.exec(readFileSync(join(folder, "config.yml"), "utf8")) ?? [];
  const [run] = await Run.list({ tag: `project:${id.slice('project_id: "'.length, -1)}` });
  expect(run).toMatchObject({ state: "succeeded", step: 20 });
  const rewards: number[] = [];
  for await (const { body } of (await Run.get(run?.id ?? "")).events())
    if (body.type === "metrics") rewards.push(body.metrics["reward/mean"] ?? Number.NaN);
  const mean = (part: number[]) => part.reduce((sum, each) => sum + each, 0) / part.length;
  expect(mean(rewards.slice(-5)) - mean(rewards.slice(0, 5))).toBeGreaterThan(0.05);
});

it("trains a project of dataset_type midtrain: the loss of held-out texts falls", async () => {
  const folder = join(home, "texts");
  mkdirSync(folder);
  const lines = [
    "An old silent pond.",
    "Autumn moonlight, a worm digs into the chestnut.",
    "Over the wintry forest",
  ];
  const rows = Array.from({ length: 24 }, (_, index) => ({
    text: `${lines[index % 3]} ${lines[(index + 1) % 3]}`,
  }));
  writeFileSync(join(folder, "train.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  writeFileSync(
    join(folder, "config.yml"),
    "project_name: texts\ndataset_type: midtrain\ndata: { train_file: train.jsonl, batch_size: 4, val_split: 0.25 }\n" +
      "model: { path: spotter/nano, qlora_rank: 8 }\ntrainer: { num_epochs: 4, learning_rate: 0.003 }\n",
  );
  expect(await main(["run", "-d", folder, "--watch", "--no-write"])).toBe(0);
  const [run] = await Run.list({ limit: 1 });
  expect(run).toMatchObject({ name: "texts", state: "succeeded", step: 20 });
  const losses: number[] = [];
  for await (const { body } of (await Run.get(run?.id ?? "")).events())
    if (body.type === "metrics" && body.metrics["eval/loss"] !== undefined)
      losses.push(body.metrics["eval/loss"]);
  expect(losses.length).toBe(4);
  expect(losses.at(-1)).toBeLessThan(0.8 * (losses[0] ?? 0));
});

it.each(Object.keys(TEMPLATES).filter((name) => name !== "haiku"))(
  "trains the template %s for an epoch",
  async (template) => {
    const folder = join(home, template);
    await initProject(folder, { template });
    // Its own student and teacher take a GPU.
    const small = template === "distill" ? ["--model", "spotter/nano", "--teacher", "spotter/nano"] : [];
    const words = ["run", "-d", folder, "trainer.num_epochs=1", ...small, "--watch", "--no-write"];
    expect(await main(words)).toBe(0);
    const [run] = await Run.list({ limit: 1 });
    expect(run).toMatchObject({ name: template, state: "succeeded" });
  },
);
