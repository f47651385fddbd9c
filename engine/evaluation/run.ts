import { join } from "node:path";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { EvalRow } from "../../sdk/schema/eval.ts";
import type { EvalJob } from "../../sdk/schema/job.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerContext } from "../agent/container.ts";
import { rewardRowOf } from "../reward-row.ts";
import { readRows } from "../training/rows.ts";
import { seedOf } from "../training/seeds.ts";
import { unlessAborted } from "../training/stop.ts";
import { countVerdicts } from "../training/verdicts.ts";
import { readAnswer, type Answer } from "./answer.ts";
import { createLimit } from "./limit.ts";
import { rowBatches } from "./row-batches.ts";

/** Answers judged and reported together. */
const BLOCK = 64;

interface Question {
  index: number;
  sample: number;
  row: DatasetRow;
}

/** An eval job: every row asked `samplesPerRow` times, judged and reported block by block. */
export async function runEvaluation({
  client,
  job,
  workDir,
  log,
}: ContainerContext): Promise<"succeeded" | "cancelled"> {
  if (job.kind !== "eval")
    throw new SpotterError("invalid_input", `This container evaluates; the job is of kind ${job.kind}.`);
  const file = join(workDir, "dataset.jsonl");
  await client.download(job.dataset, file);
  const questions = questionsOf(await readRows(file, job.dataset.path), job.spec.samplesPerRow);
  log.info(`asking ${job.model} ${questions.length} times`);
  const failed = new AbortController();
  const stop = AbortSignal.any([client.cancelled, client.ended, failed.signal]);
  try {
    await askAndJudge(client, job, questions, stop);
    return "succeeded";
  } catch (error) {
    if (client.cancelled.aborted) return "cancelled";
    throw error;
  } finally {
    // What is still being asked is of no use any more.
    failed.abort();
  }
}

async function askAndJudge(
  client: JobClient,
  job: EvalJob,
  questions: Question[],
  signal: AbortSignal,
): Promise<void> {
  const limit = createLimit(job.spec.concurrency);
  const answers = questions.map((question) => limit(() => ask(client, job, question, signal)));
  // Each is awaited below; until then a failure is not unhandled.
  for (const answer of answers) answer.catch(() => undefined);
  let verdicts = { judged: 0, missing: 0 };
  for (let first = 0; first < questions.length; first += BLOCK) {
    const block = questions.slice(first, first + BLOCK);
    const answered = await Promise.all(answers.slice(first, first + BLOCK));
    const rows = await judge(client, block, answered, signal);
    for (const batch of rowBatches(rows))
      client.report({ type: "eval-rows", rows: batch, total: questions.length });
    client.setProgress({ step: first + block.length });
    verdicts = countVerdicts(
      verdicts,
      rows.map(({ verdict }) => verdict),
      job.spec.rewards.maxMissingShare,
      questions.length,
    );
  }
}

async function ask(
  client: JobClient,
  job: EvalJob,
  { index, sample, row }: Question,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const body = {
    ...job.spec.chatOptions,
    model: job.model,
    messages: row.prompt,
    stream: false,
    seed: seedOf(job.spec.seed, "eval", index, sample),
  };
  return readAnswer(await client.chat(`${job.chatUrl}/chat/completions`, body, signal));
}

async function judge(
  client: JobClient,
  questions: Question[],
  answers: Answer[],
  signal: AbortSignal,
): Promise<EvalRow[]> {
  const pairs = questions.flatMap((question, at) => {
    const answer = answers[at];
    return answer === undefined ? [] : [{ question, answer }];
  });
  const verdicts = await unlessAborted(
    client.judge(pairs.map(({ question, answer }) => rewardRowOf(question.row, answer))),
    signal,
  );
  return pairs.flatMap(({ question, answer }, at) => {
    const verdict = verdicts[at];
    if (verdict === undefined) return [];
    return [
      {
        row: question.index,
        sample: question.sample,
        input: question.row.row,
        text: answer.text,
        finishReason: answer.finishReason,
        tokens: answer.tokens,
        verdict,
      },
    ];
  });
}

function questionsOf(rows: DatasetRow[], samplesPerRow: number): Question[] {
  return rows.flatMap((row, index) =>
    Array.from({ length: samplesPerRow }, (_, sample) => ({ index, sample, row })),
  );
}
