import { Endpoint, JsonlDataset, TrainConfig, models, recipes } from "spotter";
import { watchRun } from "spotter/render";

const model = models.get("spotter/nano");
const question = [{ role: "user" as const, content: "Write a haiku about rain." }];

const base = await Endpoint.launch(model, { name: "base" });
console.log((await base.chat(question)).content);

const run = await new TrainConfig({
  model,
  dataset: new JsonlDataset(new URL("./train.jsonl", import.meta.url), {
    inputColumn: "keywords",
    promptTemplate: "Write a haiku about {input}.",
  }),
  recipe: recipes.grpo({ steps: 30, promptsPerStep: 16, samplesPerPrompt: 8, maxTokens: 40 }),
  rewards: new URL("./rewards.ts", import.meta.url),
}).launch(); // returns at once: the run goes on without this script
await watchRun(run); // a progress bar; leave it out if you do not want to look

const result = await run.result();
const checkpoint = result.checkpoints().at(-1);
const trained = await Endpoint.launch(model, { name: "trained", checkpoint, recreate: true });
console.log((await trained.chat(question)).content);
