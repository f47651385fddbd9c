import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { expect, it, onTestFinished } from "vitest";
import { runContainer } from "../../../engine/agent/container.ts";
import { runEvaluation } from "../../../engine/evaluation/run.ts";
import { samplingOf } from "../../../engine/evaluation/engine-play.ts";
import type { TextModel } from "../../../engine/onnx/text/text-model.ts";
import { sampleAll } from "../../../engine/training/samples.ts";
import { createPromptCodec } from "../../../engine/training/text.ts";
import { createWorld } from "../../../engine/training/world.ts";
import { seedOf } from "../../../engine/training/seeds.ts";
import { rolloutOf } from "../../../engine/evaluation/rollout-of.ts";
import { jobSpec, type EvalJob } from "../../../sdk/schema/job.ts";
import { startFakeControlPlane } from "../fake-control-plane.ts";
import { characterModel } from "../training/character-model.ts";
import { promptRow, startFakeEngine, type FakeEngine } from "../training/fake-engine.ts";

const model = characterModel as unknown as TextModel;
const sha256 = "0".repeat(64);

it("an eval with a checkpoint of its own plays token for token as a training", async () => {
  const dir = await mkdtemp(join(tmpdir(), "spotter-own-"));
  const plane = await startFakeControlPlane(dir);
  onTestFinished(async () => {
    await plane[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });
  const rows = ["a", "bb", "x".repeat(100)].map((text) => promptRow(text));
  plane.job = z.parse(jobSpec, {
    ...{ protocol: 1, id: "job-1", attempt: 1, heartbeatEveryMs: 20, threads: 1, kind: "eval", evalId: "e" },
    dataset: plane.addFile("d.jsonl", rows.map((row) => JSON.stringify(row)).join("\n")),
    weights: {
      checkpoint: {
        ...{ id: "run@2", kind: "full", step: 2, model: { name: "/nowhere" } },
        files: [plane.addFile("model/weight.json", "7"), plane.addFile("trainer/moment.json", "1")],
      },
    },
    spec: {
      ...{ endpoint: "", dataset: { sha256, rows: 3 }, rewards: { code: { sha256 }, maxMissingShare: 0.5 } },
      ...{
        samplesPerRow: 2,
        passAt: [{ k: 1, temperature: 0 }, { k: 2 }],
        chatOptions: { max_tokens: 8 },
        seed: 3,
      },
    },
  });
  const engines: FakeEngine[] = [];
  const code = await runContainer(
    { ...plane.env },
    (context) =>
      runEvaluation(context, {
        startEngine: async (setup) => {
          engines.push(await startFakeEngine(setup));
          return engines[0] as FakeEngine;
        },
        loadTextModel: async () => model,
      }),
    { write: () => undefined },
  );
  expect(code).toBe(0);
  const [engine] = engines;
  expect(engine).toMatchObject({ weight: 7, closed: true, setup: { maxPositions: 12 } });
  expect(engine?.requests.filter(({ temperature }) => temperature === 0)).toHaveLength(2);
  const told = plane.events.flatMap((event) => (event.type === "eval-rows" ? event.rows : []));
  expect(told.filter(({ failure }) => failure?.code === "context_length_exceeded")).toHaveLength(3);

  // The same conversation as a training would have sampled it with these weights.
  const job = plane.job as EvalJob;
  const again = await startFakeEngine({ modelDir: await folder(dir), threads: 1, slots: 1 });
  const codec = createPromptCodec(model, {});
  const never = () => Promise.resolve([]);
  const world = createWorld({
    job,
    rollout: rolloutOf(job.spec),
    codec,
    client: { callTools: never, callEnvironments: never },
  });
  const request = { index: 4, group: 4, row: rows[1] ?? promptRow(""), seed: seedOf(3, "eval", 1, 2) };
  const settings = samplingOf(job, undefined, codec.contextLength);
  const signal = new AbortController().signal;
  const [sample] = await sampleAll({ engine: again, codec, settings, world, signal }, [request]);
  const row = told.find((each) => each.row === 1 && each.sample === 2);
  expect(row?.messages).toEqual(sample?.messages);
  expect(row?.text).toBe(sample?.response.content);
});

async function folder(dir: string): Promise<string> {
  const made = join(dir, "again");
  await mkdir(made);
  await writeFile(join(made, "weight.json"), "7");
  return made;
}
