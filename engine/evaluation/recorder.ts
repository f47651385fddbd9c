import { ERROR_CODES, type ErrorCode } from "../../sdk/schema/error-codes.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import type { Verdict } from "../../sdk/schema/rollout.ts";
import type { JobClient } from "../agent.ts";
import { countVerdicts, type VerdictCount } from "../training/verdicts.ts";
import { judgedRow, type Played } from "./played.ts";
import type { Question } from "./questions.ts";
import { rowBatches } from "./row-batches.ts";

/** Conversations judged and reported together at most. */
const BLOCK = 64;

export interface RecorderParams {
  client: Pick<JobClient, "judge" | "report" | "setProgress">;
  /** Conversations of the whole eval, and how many of them were recorded before. */
  total: number;
  done: number;
  maxMissingShare: number;
}

/** Judges conversations and writes them down as they end. */
export interface Recorder {
  /** Rejects everything that comes later once too many rows have no verdict. */
  add(question: Question, played: Played): void;
  /** Resolves when all that was added is recorded; rejects where that failed. */
  settled(): Promise<void>;
  /** Aborted when it failed. */
  readonly failed: AbortSignal;
}

type Ended = [Question, Played];

/**
 * One batch is judged at a time; what ends meanwhile is the next one. So a row is stored moments after its end, and a
 * container that is killed loses only what it was playing.
 */
export function createRecorder(params: RecorderParams): Recorder {
  const { client, total, maxMissingShare } = params;
  const waiting: Ended[] = [];
  const failure = new AbortController();
  let recorded = params.done;
  let unplayed = 0;
  let verdicts: VerdictCount = { judged: 0, missing: 0 };
  let isWorking = false;
  let work: Promise<void> = Promise.resolve();

  async function recordAll(): Promise<void> {
    isWorking = true;
    try {
      while (waiting.length > 0 && !failure.signal.aborted) await record(waiting.splice(0, BLOCK));
    } catch (error) {
      failure.abort(error);
    }
    isWorking = false;
  }

  async function record(block: Ended[]): Promise<void> {
    const judged = await judge(client, block);
    const rows = block.map(([question, played], at) => rowOf(question, played, judged[at] ?? NO_VERDICT));
    for (const batch of rowBatches(rows)) client.report({ type: "eval-rows", rows: batch, total });
    client.setProgress({ step: (recorded += rows.length) });
    refuseMany(rows);
  }

  /** @throws SpotterError with the first cause, once more have none than may. */
  function refuseMany(rows: readonly EvalRow[]): void {
    const failures = rows.flatMap(({ failure: why }) => why ?? []);
    unplayed += failures.length;
    verdicts = countVerdicts(
      verdicts,
      rows.filter(({ failure: why }) => why === undefined).map(({ verdict }) => verdict),
      maxMissingShare,
      total,
    );
    const [first] = failures;
    if (first === undefined || unplayed / total <= maxMissingShare) return;
    throw new SpotterError(
      first.code in ERROR_CODES ? (first.code as ErrorCode) : "eval_failed",
      `${unplayed} of ${total} rows could not be played, more than the ${maxMissingShare * 100} % allowed. ` +
        `The first cause: ${first.message}`,
      { hint: "See the rows of the eval; maxMissingShare of the rewards says how many may fail." },
    );
  }

  return {
    failed: failure.signal,
    add: (question, played) => {
      waiting.push([question, played]);
      if (!isWorking) work = recordAll();
    },
    settled: async () => {
      await work;
      failure.signal.throwIfAborted();
    },
  };
}

const NO_VERDICT: Verdict = { scores: {}, errors: {} };

async function judge(client: Pick<JobClient, "judge">, block: readonly Ended[]): Promise<Verdict[]> {
  const sound = block.filter(([, { failure }]) => failure === undefined);
  const verdicts = await client.judge(sound.map(([question, played]) => judgedRow(question, played)));
  let next = 0;
  return block.map(([, { failure }]) =>
    failure === undefined ? (verdicts[next++] ?? NO_VERDICT) : NO_VERDICT,
  );
}

function rowOf(question: Question, played: Played, verdict: Verdict): EvalRow {
  const { response, messages, turns, truncated, cutAnswers, failure, finishReason, tokens } = played;
  const { index, sample, row, temperature } = question;
  return {
    row: index,
    sample,
    input: row.row,
    text: response.content,
    ...(messages.length > 0 && { messages }),
    ...(turns > 1 && { turns }),
    ...(truncated && { truncated }),
    ...(cutAnswers > 0 && { cutAnswers }),
    ...(temperature !== undefined && { temperature }),
    ...(failure !== undefined && { failure }),
    finishReason,
    tokens,
    verdict,
  };
}
