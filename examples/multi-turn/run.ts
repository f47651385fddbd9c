/**
 * Teaches a language model to remember: asked to say a word and then for a haiku "about it", it shall write about
 * that word. The rows are conversations that the script has with the model first.
 *
 *   npx node examples/multi-turn/run.ts [--quick]
 *
 * @module
 */
import { Endpoint, Eval, models, recipes, TrainConfig } from "spotter";
import { table, watchRun } from "spotter/render";
import { heldOutWords, trainWords } from "../haiku/words.ts";
import { Conversations } from "./conversations.ts";

// A few steps show that everything works, not that anything is learnt.
const isQuick = process.argv.includes("--quick");
const model = models.get("spotter/nano");
const rewards = new URL("./rewards.ts", import.meta.url);

const base = await Endpoint.launch(model, { name: "multi-turn-base" });
const baseScore = await evaluate(base);

const run = await new TrainConfig({
  model,
  dataset: new Conversations(base, isQuick ? trainWords.slice(0, 4) : trainWords),
  recipe: recipes.grpo({
    steps: isQuick ? 1 : 50,
    promptsPerStep: isQuick ? 2 : 16,
    samplesPerPrompt: 8,
    maxTokens: 40,
    learningRate: 6e-4,
  }),
  rewards,
}).launch();
console.log(`run ${run.id}, ${run.url}`);
await watchRun(run);
const checkpoint = (await run.result()).checkpoints().at(-1);
await base.stop();

const trained = await Endpoint.launch(model, { name: "multi-turn-trained", checkpoint, recreate: true });
const trainedScore = await evaluate(trained);
await trained.stop();

const rows = Object.entries({ base: baseScore, trained: trainedScore }).map(([name, { scores, n }]) => [
  name,
  scores.topic?.mean.toFixed(2) ?? "",
  scores.form?.mean.toFixed(2) ?? "",
  n,
]);
for (const line of table(["MODEL", "REMEMBERS", "FORM", "CONVERSATIONS"], rows)) console.log(line);

/** Has conversations about words that are never trained on. Both answers are by the endpoint that is judged. */
async function evaluate(endpoint: Endpoint) {
  await endpoint.waitUntilReady();
  const evaluation = await new Eval({
    name: endpoint.name,
    endpoint,
    dataset: new Conversations(endpoint, isQuick ? heldOutWords.slice(0, 4) : heldOutWords),
    rewards,
    samplesPerRow: isQuick ? 1 : 8,
    chatOptions: { max_tokens: 40, temperature: 1 },
  }).launch();
  const result = await evaluation.result();
  const [shown] = await evaluation.rows();
  console.log(`\n${endpoint.name}\n  user       Say ${String(shown?.input.topic)}.`);
  console.log(`  assistant ${String(shown?.input.said)}\n  user       Write a haiku about it.`);
  console.log(`  assistant  ${shown?.text.replaceAll("\n", "\n             ")}\n`);
  return result;
}
