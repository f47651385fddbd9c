import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { isEvaluated } from "../../sdk/schema/run-eval.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Rollout } from "../../sdk/schema/rollout.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerLog } from "../agent/log.ts";
import type { EngineApi } from "../onnx/engine-api.ts";
import type { Batches } from "./batches.ts";
import { saveCheckpoint } from "./checkpoints.ts";
import type { Teacher } from "./distill-teacher.ts";
import { evaluate } from "./evaluate.ts";
import { finite, type Progress } from "./progress.ts";
import type { RolloutQueue } from "./rollout-queue.ts";
import type { StartingPoint } from "./starting-point.ts";
import { runStep, type StepContext } from "./steps.ts";
import { stopSignal } from "./stop.ts";
import type { PromptCodec } from "./text.ts";
import type { VerdictCount } from "./verdicts.ts";
import type { World } from "./world.ts";

export interface LoopParams {
  spec: RunSpec;
  engine: EngineApi;
  codec: PromptCodec;
  client: Pick<JobClient, "judge" | "putRollouts" | "uploadCheckpoint" | "cancelled" | "ended">;
  progress: Progress;
  workDir: string;
  start: StartingPoint;
  world: World;
  teacher?: Teacher | undefined;
  rows: DatasetRow[];
  evalRows: DatasetRow[] | undefined;
  batches: Batches;
  extras?: Batches | undefined;
  queue: RolloutQueue;
  log: Pick<ContainerLog, "warn">;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

interface LoopState {
  /** Steps of this run that are finished. */
  finished: number;
  saved: number;
  verdicts: VerdictCount;
  metrics: Record<string, number>;
  /** Steps in a row, up to now, that had nothing to learn. */
  flatSteps: number;
}

/** Then the run is told of it. */
const MANY_FLAT_STEPS = 5;

/**
 * Trains from where `start` stands to the last step. A cancelled run, a run out of time and a run whose
 * rewards fail keep what they learnt: a checkpoint of the last finished step is stored first.
 *
 * @throws SpotterError `timeout` at the time limit, or whatever made a step fail.
 */
export async function trainLoop(params: LoopParams): Promise<"succeeded" | "cancelled"> {
  const { spec, client, start } = params;
  const state: LoopState = {
    finished: start.finishedSteps,
    saved: start.finishedSteps,
    verdicts: start.verdicts,
    metrics: {},
    flatSteps: 0,
  };
  const uploads = createRolloutUploads(client);
  using stop = stopSignal([client.cancelled, client.ended], spec.limits.durationMs);
  try {
    while (state.finished < spec.trainer.steps) {
      stop.signal.throwIfAborted();
      await oneStep(params, state, uploads, stop.signal);
    }
  } catch (error) {
    if (client.ended.aborted) throw error;
    if (stop.signal.aborted || isRewardFailure(error)) await save(params, state);
    await uploads.settled();
    if (client.cancelled.aborted) return "cancelled";
    throw stop.signal.aborted ? stop.signal.reason : error;
  }
  await uploads.settled();
  return "succeeded";
}

async function oneStep(
  params: LoopParams,
  state: LoopState,
  uploads: RolloutUploads,
  signal: AbortSignal,
): Promise<void> {
  const { spec, progress, now } = params;
  const step = state.finished + 1;
  const startedAt = now();
  const context: StepContext = {
    ...params,
    step,
    totalStep: params.start.inheritedSteps + step,
    verdicts: state.verdicts,
    signal,
  };
  const { metrics, rollouts, verdicts } = await runStep(context);
  state.finished = step;
  state.verdicts = verdicts;
  if (rollouts.length > 0) await uploads.put(step, rollouts);
  const seconds = (now() - startedAt) / 1000;
  state.metrics = {
    ...metrics,
    step_seconds: seconds,
    tokens_per_s: (metrics.completion_tokens ?? 0) / Math.max(seconds, 1e-9),
  };
  progress.metrics(step, state.metrics);
  warnOfFlatSteps(params, state);
  if (isDue(step, spec.evalEvery) && params.evalRows !== undefined) {
    progress.phase("evaluate", step, spec.trainer.steps);
    const evaluated = await evaluate({ ...params, rows: params.evalRows, signal });
    progress.metrics(step, evaluated);
    state.metrics = { ...state.metrics, ...evaluated };
  }
  const isSaved = isDue(step, spec.trainer.saveEvery) || isEvaluated(spec.evals, step);
  if (isSaved || step === spec.trainer.steps) await save(params, state);
}

/** Once in a run at most: the first time in a row is what people can act on. */
function warnOfFlatSteps({ log }: LoopParams, state: LoopState): void {
  if (state.flatSteps >= MANY_FLAT_STEPS) return;
  state.flatSteps = state.metrics.groups_used === 0 ? state.flatSteps + 1 : 0;
  if (state.flatSteps < MANY_FLAT_STEPS) return;
  log.warn(
    `All answers of each prompt score the same for ${MANY_FLAT_STEPS} steps: there is nothing to learn. ` +
      "Let the rewards tell answers apart more finely, sample more answers a prompt, raise the temperature, " +
      "or use prompts that the model sometimes gets right.",
  );
}

async function save(params: LoopParams, state: LoopState): Promise<void> {
  const { spec, start } = params;
  if (state.finished === state.saved) return;
  params.progress.phase("save-checkpoint", state.finished, spec.trainer.steps);
  await saveCheckpoint({
    engine: params.engine,
    client: params.client,
    workDir: params.workDir,
    kind: spec.adapter.kind,
    state: {
      v: 1,
      step: state.finished,
      totalSteps: start.inheritedSteps + state.finished,
      seed: spec.seed,
      verdicts: state.verdicts,
    },
    metrics: finite(state.metrics),
    also: (trainerDir) => params.queue.save(trainerDir),
  });
  state.saved = state.finished;
}

interface RolloutUploads {
  put(step: number, rollouts: Rollout[]): Promise<void>;
  settled(): Promise<void>;
}

/** One upload at a time runs beside the next step's sampling; its failure surfaces at the next call. */
function createRolloutUploads(client: Pick<JobClient, "putRollouts">): RolloutUploads {
  let running: Promise<void> = Promise.resolve();
  return {
    put: async (step, rollouts) => {
      await running;
      running = client.putRollouts(step, rollouts);
      running.catch(() => undefined);
    },
    settled: () => running,
  };
}

function isDue(step: number, every: number | null | undefined): boolean {
  return every !== null && every !== undefined && step % every === 0;
}

function isRewardFailure(error: unknown): boolean {
  return SpotterError.is(error) && /^(reward|rollout)_/.test(error.code);
}
