import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { EventEmitter } from "node:events";
import { join } from "node:path";
import * as z from "zod/mini";
import { jobSpec, type JobCheckpoint, type JobEventBody } from "../../../sdk/schema/job.ts";
import type { RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { runContainer } from "../../../engine/agent/container.ts";
import { runTraining, type TrainParts } from "../../../engine/training/run.ts";
import type { TextModel } from "../../../engine/onnx/text/text-model.ts";
import type { DatasetRow } from "../../../sdk/schema/dataset.ts";
import { startFakeControlPlane, type FakeControlPlane } from "../fake-control-plane.ts";
import { startFakeEngine, type FakeEngine } from "./fake-engine.ts";
import { characterModel } from "./character-model.ts";

export interface TrainFixture extends AsyncDisposable {
  plane: FakeControlPlane;
  /** Stands in for the process: emit "SIGTERM" or "uncaughtException". */
  host: EventEmitter;
  engines: FakeEngine[];
  /** Runs a train container to its end and returns the exit code. */
  train(spec: Partial<RunSpecInput>, job?: JobParams): Promise<number>;
  /** The last event, which says how the work ended. */
  exit(): Extract<JobEventBody, { type: "exit" }> | undefined;
  metrics(): { step: number; metrics: Record<string, number> }[];
  phases(): string[];
  checkpointOf(step: number, params?: Partial<JobCheckpoint>): JobCheckpoint;
}

export interface JobParams {
  rows?: DatasetRow[];
  evalRows?: DatasetRow[];
  resume?: JobCheckpoint;
  start?: JobCheckpoint;
}

/** What the container is made of, and the model it trains. */
export interface FixtureParts extends Pick<TrainParts, "startEngine" | "loadTextModel"> {
  writeModel: (dir: string) => Promise<unknown>;
}

/** A model folder and a control plane, thrown away afterwards. Default: an engine of one weight. */
export async function trainFixture(parts?: FixtureParts): Promise<TrainFixture> {
  const dir = await mkdtemp(join(tmpdir(), "spotter-train-"));
  const modelDir = join(dir, "base");
  const plane = await startFakeControlPlane(dir);
  const host = new EventEmitter();
  const engines: FakeEngine[] = [];
  let runs = 0;
  const { writeModel, startEngine, loadTextModel } = parts ?? fakeParts(engines);
  await writeModel(modelDir);

  async function train(spec: Partial<RunSpecInput>, params: JobParams = {}): Promise<number> {
    const workDir = join(dir, `work-${runs++}`);
    await mkdir(workDir);
    plane.events.length = 0;
    const { rows = [], evalRows, resume, start } = params;
    plane.job = z.parse(jobSpec, {
      protocol: 1,
      id: "job-1",
      attempt: 0,
      heartbeatEveryMs: 20,
      threads: 1,
      kind: "train",
      runId: "run-1",
      spec: { ...baseSpec(modelDir), ...spec },
      dataset: plane.addFile("train.jsonl", jsonl(rows)),
      ...(evalRows === undefined ? {} : { evalDataset: plane.addFile("eval.jsonl", jsonl(evalRows)) }),
      ...(resume === undefined ? {} : { resume }),
      ...(start === undefined ? {} : { start }),
    });
    let now = 0;
    return runContainer(
      { ...plane.env, SPOTTER_WORK_DIR: workDir },
      (context) =>
        runTraining(context, {
          startEngine,
          loadTextModel,
          now: () => (now += 500),
        }),
      { host, write: () => undefined },
    );
  }

  return {
    plane,
    host,
    engines,
    train,
    exit: () => plane.events.findLast((event) => event.type === "exit"),
    metrics: () =>
      plane.events.flatMap((event) =>
        event.type === "run" && event.event.type === "metrics"
          ? [{ step: event.event.step, metrics: event.event.metrics }]
          : [],
      ),
    phases: () =>
      plane.events.flatMap((event) =>
        event.type === "run" && event.event.type === "phase" ? [event.event.phase] : [],
      ),
    checkpointOf: (step, checkpoint) => ({
      id: `run-1@${step}`,
      kind: "full",
      step,
      model: { name: modelDir },
      files: plane.filesOf(step),
      ...checkpoint,
    }),
    [Symbol.asyncDispose]: async () => {
      await plane[Symbol.asyncDispose]();
      await rm(dir, { recursive: true });
    },
  };
}

function fakeParts(engines: FakeEngine[]): FixtureParts {
  return {
    writeModel: async (modelDir) => {
      await mkdir(modelDir);
      await writeFile(join(modelDir, "config.json"), "{}");
      await writeFile(join(modelDir, "weight.json"), "0");
    },
    startEngine: async (setup) => {
      const engine = await startFakeEngine(setup);
      engines.push(engine);
      return engine;
    },
    loadTextModel: async () => characterModel as unknown as TextModel,
  };
}

function baseSpec(modelDir: string): RunSpecInput {
  return {
    kind: "rl",
    model: { name: modelDir },
    dataset: { sha256: "0".repeat(64), rows: 1 },
    rewards: { code: { sha256: "0".repeat(64) } },
    rollout: { promptsPerStep: 2, samplesPerPrompt: 4, maxTokens: 8 },
    algorithm: { kind: "grpo" },
    trainer: { steps: 4, learningRate: 0.01 },
    seed: 5,
  };
}

function jsonl(rows: DatasetRow[]): string {
  return rows.map((row) => JSON.stringify(row)).join("\n");
}
