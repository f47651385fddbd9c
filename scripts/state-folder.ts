/**
 * Makes a state folder with the code of this checkout: `node scripts/state-folder.ts OUT`.
 *
 * Before the shape of what is stored changes, run it and keep what it made as `test/fixtures/state-vN`: a test
 * opens each of them with the code of the day. It has one of everything: a run that has ended, one that was
 * training when its machine went away, one that waits, an endpoint, an eval, keys, a dataset and user code.
 *
 * @module
 */
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sha256Of } from "../functions/records/hash.ts";
import type { RunDetail } from "../sdk/schema/run.ts";
import { bundleUserCode } from "../sdk/user-code/bundle.ts";
import { testPlane, type TestPlane } from "../test/fakes/control-plane.ts";
import { runningRun, type FakeJob } from "../test/fakes/job.ts";

const REWARDS = new URL("../test/fixtures/sdk/rewards.ts", import.meta.url);
const KEYWORDS = ["rain", "snow", "moss", "dawn"];
const [out] = process.argv.slice(2);
if (out === undefined || existsSync(out)) {
  process.stderr.write("Usage: node scripts/state-folder.ts OUT, a folder that does not exist yet\n");
  process.exit(2);
}
const ends: (() => Promise<void>)[] = [];
const plane = await testPlane({ onEnd: (end) => ends.push(end) });
await fill(plane);
await plane.close();
copy(plane.control.config.home, out);
for (const end of ends.reverse()) await end();

async function fill(plane: TestPlane): Promise<void> {
  const ended = await runningRun(plane, { name: "ended" });
  await train(ended.job, [2, 4]);
  await ended.job.exit("succeeded");
  await plane.json("POST", "/endpoints", {
    model: { name: "spotter/nano" },
    name: "trained",
    checkpoint: `${ended.id}@4`,
  });
  await plane.reconciler.settle();
  await plane.json("POST", "/evals", {
    endpoint: "trained",
    dataset: (await detail(plane, ended.id)).spec.dataset,
    rewards: { code: (await detail(plane, ended.id)).spec.rewards?.code },
  });
  await plane.json("POST", "/keys", { name: "old", scope: "write" });
  const training = await runningRun(plane, { name: "training" });
  await train(training.job, [2]);
  await launchReal(plane);
  await plane.reconciler.settle();
}

async function train(job: FakeJob, steps: number[]): Promise<void> {
  for (const step of steps) {
    const metrics = { type: "metrics", step, metrics: { "reward/mean": step / 4 } };
    await job.report(
      { type: "run", event: metrics },
      { type: "log", level: "info", message: `step ${step}` },
    );
    const rollouts = [rollout(step)];
    await job.call("POST", "/rollouts", { attempt: job.attempt, step, rollouts });
    await job.save(step);
  }
}

function rollout(step: number) {
  return {
    step,
    index: 0,
    group: 0,
    row: { topic: "rain" },
    messages: [{ role: "user", content: "Write about rain." }],
    tokenIds: [1, 2],
    mask: [0, 1],
    logprobs: [0, -0.5],
    text: "rain",
    finishReason: "stop",
    verdict: { scores: {}, errors: {} },
  };
}

/** A run that a real container can do, with the bundle of real rewards. */
async function launchReal(plane: TestPlane): Promise<void> {
  const dataset = KEYWORDS.map((keyword) =>
    JSON.stringify({ prompt: [{ role: "user", content: `Write about ${keyword}.` }], row: { keyword } }),
  ).join("\n");
  const { sha256, code, name } = await bundleUserCode(REWARDS);
  await plane.json("PUT", `/datasets/${sha256Of(dataset)}`, dataset);
  await plane.json("PUT", `/user-code/${sha256}?name=${name}`, code);
  await plane.json("POST", "/runs", {
    kind: "rl",
    name: "waiting",
    model: { name: "spotter/nano" },
    dataset: { sha256: sha256Of(dataset), rows: KEYWORDS.length },
    rewards: { code: { sha256 } },
    algorithm: { kind: "grpo" },
    rollout: { promptsPerStep: 1, samplesPerPrompt: 2, maxTokens: 8 },
    trainer: { steps: 1 },
  });
}

function detail(plane: TestPlane, id: string): Promise<RunDetail> {
  return plane.json<RunDetail>("GET", `/runs/${id}`);
}

function copy(home: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const name of ["state.db", "blobs"]) cpSync(join(home, name), join(target, name), { recursive: true });
  rmSync(join(target, "blobs", "incoming"), { recursive: true, force: true });
}
