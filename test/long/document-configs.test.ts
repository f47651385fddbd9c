import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Dataset, Endpoint, Eval, Run } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";
import { runCli } from "../sdk/cli/run-cli.ts";

const DOCUMENT = new URL("../fixtures/project-folder/document/", import.meta.url);
const { home } = ownHome();

const REWARDS = `import { reward } from "spotter";
export const accuracy = reward(({ response }) => Math.min(1, response.content.length / 40));
`;
const TOOLS = `import { tool } from "spotter";
export const add = tool<{ a: number; b: number }>(
  {
    description: "Adds two numbers.",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  },
  ({ a, b }) => a + b,
);
`;

/** Configurations of the document as they stand there, around which a project is built. */
const CONFIGS = readdirSync(DOCUMENT).filter((name) => !name.startsWith("part-"));

/** Rows enough for one step an epoch, so that two epochs are two steps. */
function projectWith(name: string, config: string): string {
  const folder = join(home, name.replace(".yml", ""));
  const batch = Number(/batch_size: (\d+)/.exec(config)?.[1]);
  const split = Number(/val_split: ([\d.]+)/.exec(config)?.[1] ?? 0);
  const question = (index: number) => ({ role: "user", content: `What is ${index % 10} + 3?` });
  const isSft = config.includes("dataset_type: sft");
  const rows = Array.from({ length: Math.floor(batch / (1 - split)) }, (_, index) =>
    isSft
      ? { messages: [question(index), { role: "assistant", content: String((index % 10) + 3) }] }
      : {
          messages: [question(index)],
          ...(config.includes("dataset_type: rl") && { rewards: ["accuracy"] }),
        },
  );
  mkdirSync(folder);
  writeFileSync(join(folder, "config.yml"), config);
  writeFileSync(join(folder, "train.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  if (config.includes("dataset_type: rl")) writeFileSync(join(folder, "rewards.ts"), REWARDS);
  if (config.includes("max_turns: 5")) writeFileSync(join(folder, "tools.ts"), TOOLS);
  return folder;
}

/** What `your_eval_id` stands for: an eval that was made before. */
async function anEval(folder: string): Promise<string> {
  const endpoint = await Endpoint.launch("spotter/nano");
  const evaluation = await new Eval({
    endpoint,
    dataset: Dataset.fromArray([{ question: "What is 2 + 3?" }], { inputColumn: "question" }),
    rewards: join(folder, "rewards.ts"),
    samplesPerRow: 1,
    chatOptions: { max_tokens: 8 },
  }).launch();
  await evaluation.result();
  await endpoint.stop();
  return evaluation.id;
}

it("are nine", () => {
  expect(CONFIGS).toHaveLength(9);
});

it.each(CONFIGS)("%s trains two steps on the shipped model (A69)", { timeout: 120_000 }, async (name) => {
  const config = readFileSync(new URL(name, DOCUMENT), "utf8");
  const folder = projectWith(name, config);
  if (config.includes("your_eval_id")) {
    const known = config.replace("your_eval_id", await anEval(folder));
    writeFileSync(join(folder, "config.yml"), known);
  }
  const models = ["--model", "spotter/nano", "--teacher", "spotter/nano"];
  const words = ["run", "-d", folder, ...models, "trainer.num_epochs=2", "--watch", "--no-write"];
  const { code, out, err } = await runCli(words);
  const said = `${out}${err}`;
  expect(code, said).toBe(0);
  for (const key of ["max_context_window: 8192", "max_context_window: 32768"])
    if (config.includes(key)) expect(said).toContain("lowered to 1024, the largest window of spotter/nano");
  const [run] = await Run.list({ limit: 1 });
  expect(run).toMatchObject({ state: "succeeded", step: 2, model: "spotter/nano" });
});
