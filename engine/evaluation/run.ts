import { join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { totalAnswers } from "../../sdk/schema/launch-eval.ts";
import type { EvalJob } from "../../sdk/schema/job.ts";
import type { ContainerContext } from "../agent/container.ts";
import type { EngineApi, EngineSetup } from "../onnx/engine-api.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { openPython } from "../training/python-run.ts";
import { readRows } from "../training/rows.ts";
import { unlessAborted } from "../training/stop.ts";
import { createLimit } from "./limit.ts";
import { openPlayer } from "./open-player.ts";
import type { Play } from "./played.ts";
import { questionsOf, type Question } from "./questions.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

/** Where nothing says how many verdicts may be missing. */
const MISSING_SHARE = 0.2;

/** What a container needs that plays with weights of its own. */
export interface EvalParts {
  startEngine: (setup: EngineSetup) => Promise<EngineApi>;
  loadTextModel: (modelDir: string) => Promise<TextModel>;
}

/**
 * An eval job: every row is played `samplesPerRow` times and judged, with an endpoint or with a checkpoint of its own.
 * Each is recorded as it ends, so that another attempt goes on with those that are left.
 */
export async function runEvaluation(
  context: ContainerContext,
  parts: EvalParts,
): Promise<"succeeded" | "cancelled"> {
  const { client, job, workDir, log } = context;
  if (job.kind !== "eval")
    throw new SpotterError("invalid_input", `This container evaluates; the job is of kind ${job.kind}.`);
  const file = join(workDir, "dataset.jsonl");
  await client.download(job.dataset, file);
  const rows = await readRows(file, job.dataset.path);
  const questions = questionsOf(rows, job.spec, job.done);
  const total = totalAnswers({ ...job.spec, dataset: { ...job.spec.dataset, rows: rows.length } });
  await using python = await openPython(job, client, workDir, log);
  const stopped = new AbortController();
  const recorder = createRecorder({
    client: { ...client, judge: (each) => unlessAborted(python.judge(each), stopped.signal) },
    total,
    done: total - questions.length,
    maxMissingShare: missingShareOf(job),
  });
  const signal = AbortSignal.any([client.cancelled, client.ended, recorder.failed]);
  signal.addEventListener("abort", () => stopped.abort(signal.reason), { once: true });
  const told = { ...job, tools: python.tools };
  const played = { ...client, callTools: python.callTools };
  try {
    await using player = await openPlayer({ job: told, client: played, signal, workDir, rows, parts });
    log.info(`playing ${questions.length} times with ${player.name}; ${total - questions.length} are done`);
    await playAll(player.play, questions, recorder, job);
    return "succeeded";
  } catch (error) {
    if (client.cancelled.aborted) return "cancelled";
    throw error;
  } finally {
    // What is still being asked is of no use any more.
    stopped.abort();
  }
}

async function playAll(
  play: Play,
  questions: readonly Question[],
  recorder: Recorder,
  { spec }: EvalJob,
): Promise<void> {
  const limit = createLimit(spec.concurrency);
  await Promise.all(
    questions.map((question) =>
      limit(async () => {
        recorder.failed.throwIfAborted();
        recorder.add(question, await play(question));
      }),
    ),
  );
  await recorder.settled();
}

function missingShareOf({ spec: { rewards, python } }: EvalJob): number {
  return (rewards ?? python?.rewards)?.maxMissingShare ?? MISSING_SHARE;
}
