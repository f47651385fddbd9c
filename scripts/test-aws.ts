// The loop on a real AWS account: deploys a stack of its own, serves, trains and serves what was trained on Fargate,
// and destroys the stack whatever happens.
//
//   npm run test:aws -- --region eu-central-1                  about 30 minutes and less than a dollar
//   npm run test:aws -- --region eu-central-1 --gateway fargate
//
// Needs AWS credentials and the Pulumi command line; without them it says so and ends with 1. The state of the stack is
// in .cache/test-aws: if even the destruction fails, what is printed then destroys it by hand.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { callerIdentity, usualRegion } from "../sdk/cli/aws/ask-account.ts";
import { must, pulumiVersion } from "../sdk/cli/aws/pulumi-state.ts";
import { openPulumi } from "../sdk/cli/aws/pulumi.ts";
import { main } from "../sdk/cli/main.ts";
import { Client, Endpoint, JsonlDataset, recipes, SpotterError, TrainConfig } from "../sdk/index.ts";

const root = join(import.meta.dirname, "..");
/** For a stack that lives half an hour, in a file of this folder. */
const PASSPHRASE = "of a test";
const COLD_MS = 15 * 60_000;

const { values } = parseArgs({
  options: {
    region: { type: "string" },
    gateway: { type: "string", default: "lambda" },
    /** The clone to deploy from; another one in the script's own test. */
    dir: { type: "string", default: root },
  },
});
const interrupt = new AbortController();
// Whoever is impatient still has the stack destroyed; a third one ends it.
let interrupts = 0;
process.on("SIGINT", () => {
  interrupt.abort(new Error("Interrupted."));
  if (++interrupts > 2) process.exit(130);
});
process.exitCode = await run();

async function run(): Promise<number> {
  const region = values.region ?? (await usualRegion());
  const state = join(values.dir, ".cache", "test-aws");
  const stack = `test-${Math.floor(Date.now() / 1_000)}`;
  mkdirSync(state, { recursive: true });
  // Read by Pulumi, which the commands start.
  process.env["PULUMI_BACKEND_URL"] = pathToFileURL(state).href;
  process.env["PULUMI_CONFIG_PASSPHRASE"] = PASSPHRASE;
  const pulumi = openPulumi({ folder: values.dir });
  const missing = await Promise.allSettled([pulumiVersion(pulumi), callerIdentity(region), regionOr(region)]);
  const reasons = missing.flatMap((each) =>
    each.status === "rejected" ? [SpotterError.from(each.reason)] : [],
  );
  if (reasons.length > 0 || region === undefined) {
    say("The test on AWS was not run:");
    for (const { message, hint } of reasons) say(`- ${message}${hint === undefined ? "" : `\n  ${hint}`}`);
    return 1;
  }
  say(`${region}: deploying the stack ${stack}; its state is in ${state}.`);
  const settings = { "aws:region": region, "spotter:removal": "destroy", "spotter:gateway": values.gateway };
  let failure: unknown;
  try {
    await must(pulumi, "stack", "select", "--create", stack);
    for (const [name, value] of Object.entries(settings))
      await must(pulumi, "config", "set", name, value, "--stack", stack, "--plaintext");
    const { url, key } = await spotter("deploy", "--stack", stack);
    await until(loop(url as string, (key as { key: string }).key));
    say("The loop was closed.");
  } catch (error) {
    failure = error;
    say(`Failed: ${SpotterError.from(error).message}`);
  }
  try {
    await spotter("destroy", "--stack", stack);
    await must(pulumi, "stack", "rm", "--yes", stack);
    say("Destroyed; nothing that costs is left.");
  } catch (error) {
    failure ??= error;
    say(`THE STACK ${stack} MAY STILL BE THERE: ${SpotterError.from(error).message}`);
    say(
      `PULUMI_BACKEND_URL=${process.env["PULUMI_BACKEND_URL"]} PULUMI_CONFIG_PASSPHRASE='${PASSPHRASE}' \\`,
    );
    say(`  npx spotter destroy --stack ${stack} --region ${region} --yes`);
  }
  say(failure === undefined ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return failure === undefined ? 0 : 1;
}

async function regionOr(region: string | undefined): Promise<void> {
  if (region !== undefined) return;
  throw new SpotterError("invalid_input", "No region is given.", {
    hint: "Give one with --region, or set AWS_REGION.",
  });
}

/** A command of ours; what it shows goes to standard error. Resolves to what it prints as JSON. */
async function spotter(...words: string[]): Promise<Record<string, unknown>> {
  const out = new PassThrough();
  const args = [...words, "--dir", values.dir, "--yes", "--json"];
  const code = await main(args, { out, err: process.stderr, readInput: async () => "" });
  const text = String((out.read() as Buffer | null) ?? "{}");
  if (code === 0) return JSON.parse(text) as Record<string, unknown>;
  throw new Error(`spotter ${words.join(" ")} ended with ${code}: ${text.trim()}`);
}

/** Serve, chat, train, serve what was trained, chat with it; all without a GPU. */
async function loop(url: string, key: string): Promise<void> {
  Client.setDefault(new Client({ url, key }));
  const haiku = new URL("../examples/haiku/", import.meta.url);
  const question = [{ role: "user" as const, content: "Write a haiku about rain." }];
  const scaling = { min: 0, max: 1 };
  const base = await Endpoint.launch("spotter/nano", { name: "base", scaling });
  await base.waitUntilReady({ timeoutMs: COLD_MS });
  say(`The base model says: ${(await base.chat(question)).content}`);
  const run = await new TrainConfig({
    model: "spotter/nano",
    dataset: new JsonlDataset(new URL("train.jsonl", haiku), {
      inputColumn: "keywords",
      promptTemplate: "Write a haiku about {input}.",
    }),
    recipe: recipes.grpo({ steps: 5, promptsPerStep: 8, samplesPerPrompt: 8, maxTokens: 40, saveEvery: 5 }),
    rewards: new URL("rewards.ts", haiku),
  }).launch();
  const checkpoint = (await run.result()).checkpoints().at(-1);
  if (checkpoint === undefined) throw new Error("The run has no checkpoint.");
  const trained = await Endpoint.launch("spotter/nano", { name: "trained", checkpoint, scaling });
  await trained.waitUntilReady({ timeoutMs: COLD_MS });
  say(`The trained model says: ${(await trained.chat(question)).content}`);
}

/** The same, or the interruption. */
function until<T>(work: Promise<T>): Promise<T> {
  const { signal } = interrupt;
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    }),
  ]);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
