import type { ServerResponse } from "node:http";
import { testPlane, type TestPlane } from "../fakes/control-plane.ts";
import { fakeJob, runningRun, type FakeJob } from "../fakes/job.ts";
import { fakeUpstream } from "../fakes/upstream.ts";

export const STEPS = 40;
const STEP_MS = 2_000;
const TOPICS = ["rain", "an old pond", "the first snow", "crows on the roof"];
const POEMS = [
  "Rain upon the roof\nsoftly counting out the hours\nuntil the night ends",
  "An old pond in spring\na frog jumps into the dark\nthe sound of water",
  "First snow on the hill\nthe lantern by the temple\nburns a little low",
  "Crows on the wet roof",
];

export interface Gym {
  plane: TestPlane;
  /** A run that works: {@link STEPS} steps in all, of which `steps` are finished. */
  run: { id: string; job: FakeJob };
  /** Finishes one more step of the run. */
  step(): Promise<number>;
  /** Goes on with the answer that is being streamed; "" ends it. */
  say(text: string): void;
  /** Whether a question has come that waits for an answer. */
  canSay(): boolean;
}

/** A control plane with runs and endpoints in every state that people look at. */
export async function openGym(onEnd: (end: () => Promise<void>) => void, steps = 24): Promise<Gym> {
  const startMs = Date.now() - steps * STEP_MS - 60_000;
  const plane = await testPlane({ onEnd, startMs });
  const failed = await runningRun(plane, { name: "poems-too-fast", tags: ["sweep", "lr-2e-2"] });
  await failed.job.report({ type: "log", level: "error", message: "The loss is not a number at step 0." });
  await failed.job.exit("failed", { code: "numeric_failure", message: "The loss became NaN at step 0." });
  const run = await runningRun(plane, {
    name: "haiku",
    tags: ["poems"],
    trainer: { steps: STEPS, saveEvery: 10 },
  });
  await run.job.report({ type: "log", level: "info", message: "attempt 1: training spotter/nano" });
  const gym: Gym = { plane, run, step: stepper(plane, run), say: () => {}, canSay: () => false };
  for (let step = 0; step < steps; step++) await gym.step();
  const upstream = await fakeUpstream(onEnd, (response, body) => answer(gym, response, body));
  await launch(plane, "base");
  await bringUp(plane, "base", upstream.address);
  await launch(plane, "asleep");
  return gym;
}

async function launch(plane: TestPlane, name: string): Promise<void> {
  const model = { name: name === "base" ? "spotter/nano" : "/models/other" };
  await plane.json("POST", "/endpoints", { model, name });
  await plane.reconciler.settle();
}

async function bringUp(plane: TestPlane, name: string, address: string): Promise<void> {
  const job = fakeJob(plane, `serve-${name}-r1-1`, 1);
  await job.heartbeat();
  await job.report({ type: "ready", address });
  await plane.reconciler.settle();
}

function stepper(plane: TestPlane, { job }: { job: FakeJob }): () => Promise<number> {
  let finished = 0;
  return async () => {
    plane.clock.advance(STEP_MS);
    await job.heartbeat();
    const step = ++finished;
    const rollouts = rolloutsOf(step);
    const totals = rollouts.map(({ verdict }) => verdict.total ?? 0);
    const mean = totals.reduce((sum, each) => sum + each, 0) / totals.length;
    await job.call("POST", "/rollouts", { attempt: 1, step, rollouts });
    const metrics = {
      ...{ "reward/mean": mean, "reward/std": 1.1, "reward/topic": 0.4 + step / 80, missing_verdicts: 0 },
      ...{
        loss: 0.2 * Math.exp(-step / 12) + 0.01 * Math.sin(step),
        kl: step * 1e-4,
        entropy: 2.1 - step / 50,
      },
      ...{ grad_norm: 0.6 + 0.1 * Math.cos(step), lr: 2e-4, tokens_per_s: 5_150 + 40 * (step % 5) },
      ...(step % 8 === 0 && { "eval/reward/mean": mean - 0.3 }),
    };
    await job.report(
      { type: "run", event: { type: "phase", phase: "generate", current: step, total: STEPS } },
      { type: "run", event: { type: "metrics", step, metrics } },
    );
    if (finished % 10 === 0) await job.save(finished);
    return step;
  };
}

function rolloutsOf(step: number) {
  return Array.from({ length: 32 }, (_, index) => {
    const group = index >> 3;
    const total = Number((-6 + step / 8 - ((index * 7) % 5) / 2).toFixed(2));
    const hasVerdict = index !== 5;
    return {
      ...{ step, index, group, row: {}, tokenIds: [1, 2, 3], mask: [0, 1, 1], logprobs: [0, -1, -1] },
      messages: [{ role: "user", content: `Write a haiku about ${TOPICS[group] ?? ""}.` }],
      text: POEMS[(index + step) % POEMS.length] ?? "",
      finishReason: "stop",
      verdict: {
        ...(hasVerdict && { total }),
        scores: {
          haiku: { score: total - 0.5, weight: 1, precondition: false, reason: "4 / 7 / 5 syllables" },
          ...(hasVerdict && { topic: { score: 1, weight: 0.5, precondition: false } }),
        },
        errors: hasVerdict ? {} : { topic: { code: "reward_timeout", message: "It took longer than 10 s." } },
      },
      advantage: 0.25,
    };
  });
}

function answer(gym: Gym, response: ServerResponse, body: Record<string, unknown>): void {
  if (body["stream"] !== true) return void response.writeHead(200).end("{}");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  gym.say = (text) => {
    if (text !== "") return void send({ content: text }, null);
    send({}, "stop");
    response.end("data: [DONE]\n\n");
  };
  gym.canSay = () => !response.destroyed && !response.writableEnded;
  send({ role: "assistant" }, null);
}
