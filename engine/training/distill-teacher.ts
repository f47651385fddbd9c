import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { TeacherQuestion, TeacherTokens } from "../../sdk/schema/job-teacher.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerLog } from "../agent/log.ts";
import { realPace, type Pace } from "../agent/pace.ts";
import { checkTokenizer } from "./distill-tokenizer.ts";
import type { Progress } from "./progress.ts";
import { seedOf } from "./seeds.ts";
import type { PromptCodec } from "./text.ts";

type Sequences = readonly (readonly number[])[];

export interface AnswerSettings {
  maxTokens: number;
  /** A prompt and its answer at most. */
  contextTokens: number;
  temperature: number;
  topP: number;
  topK: number;
  seed: number;
}

/** The run's teacher, wherever it is. Every question waits while it is not up, or busy. */
export interface Teacher {
  /** Log-probabilities of given tokens, an array as long as each sequence; that of its first token is 0. */
  score(sequences: Sequences, signal: AbortSignal): Promise<number[][]>;
  /** A text as the teacher reads it. */
  read(text: string, signal: AbortSignal): Promise<number[]>;
  /** One answer to each prompt, with the teacher's log-probabilities. */
  answer(prompts: Sequences, settings: AnswerSettings, signal: AbortSignal): Promise<TeacherTokens[]>;
}

export interface TeacherParams {
  client: Pick<JobClient, "askTeacher">;
  log: Pick<ContainerLog, "info">;
  /** Called each time before it waits on. */
  onWait: () => void;
  pace?: Pace;
  /** How long it may be away before the run fails. Default 30 minutes: large weights take a while to load. */
  patienceMs?: number;
}

/** Bounds of one question, of the memory it takes on its way and of the time until its answer. */
const QUESTION_SEQUENCES = 64;
const QUESTION_TOKENS = 8_192;
/** One is under way while the next is read. */
const QUESTIONS_AT_ONCE = 2;
const ASK_AGAIN_MS = 500;

/**
 * The teacher of a distillation, once it is up and known to read as the student does; undefined for other runs.
 *
 * @throws SpotterError `tokenizer_mismatch`, `teacher_failed`, or `endpoint_not_ready` when it never came up.
 */
export async function openTeacher(
  { spec, client, log }: Pick<TeacherParams, "client" | "log"> & { spec: Pick<RunSpec, "teacher"> },
  codec: Pick<PromptCodec, "textIds" | "promptIds" | "contextLength">,
  progress: Progress,
  signal: AbortSignal,
): Promise<Teacher | undefined> {
  if (spec.teacher === undefined) return undefined;
  const onWait = (): void => progress.phase("wait-for-teacher");
  onWait();
  const teacher = createTeacher({ client, log, onWait });
  await checkTokenizer(codec, (text) => teacher.read(text, signal));
  return teacher;
}

export function createTeacher(params: TeacherParams): Teacher {
  const { client, log, onWait, pace = realPace, patienceMs = 30 * 60_000 } = params;

  async function ask(question: TeacherQuestion, signal: AbortSignal): Promise<TeacherTokens[]> {
    const startedAtMs = pace.now();
    let told = "";
    for (;;) {
      const reply = await client.askTeacher(question, signal);
      if (!("waiting" in reply)) return reply.sequences;
      if (reply.waiting !== told) log.info(`The teacher: ${reply.waiting}`);
      told = reply.waiting;
      if (pace.now() - startedAtMs >= patienceMs) throw neverCame(patienceMs, told);
      onWait();
      await pace.sleep(ASK_AGAIN_MS, signal);
    }
  }

  /** Everything in its order, whatever was answered first. */
  async function askAll(
    sequences: Sequences,
    tokensOf: (ids: readonly number[]) => number,
    questionOf: (part: number[][], first: number) => TeacherQuestion,
    signal: AbortSignal,
  ): Promise<TeacherTokens[]> {
    const parts = inParts(sequences, tokensOf);
    const answers: TeacherTokens[][] = [];
    const pending = [...parts.entries()];
    const work = async (): Promise<void> => {
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
        const [at, { first, part }] = next;
        const answer = await ask(questionOf(part, first), signal);
        if (answer.length !== part.length) throw unusable(part.length, answer.length, "texts");
        answers[at] = answer;
      }
    };
    await Promise.all(Array.from({ length: QUESTIONS_AT_ONCE }, work));
    return answers.flat();
  }

  return {
    async score(sequences, signal) {
      const graded = await askAll(
        sequences,
        (ids) => ids.length,
        (part) => ({ kind: "score", sequences: part }),
        signal,
      );
      return graded.map(({ logprobs }, index) => {
        const tokens = sequences[index]?.length ?? 0;
        if (logprobs.length !== tokens) throw unusable(tokens, logprobs.length, "tokens");
        return logprobs;
      });
    },
    async read(text, signal) {
      return (await ask({ kind: "read", text }, signal))[0]?.ids ?? [];
    },
    answer: (prompts, { seed, maxTokens, contextTokens, ...sampling }, signal) =>
      askAll(
        prompts,
        (ids) => ids.length + maxTokens,
        (part, first) => {
          const room = contextTokens - Math.max(...part.map((ids) => ids.length));
          const bounded = { ...sampling, maxTokens: Math.max(1, Math.min(maxTokens, room)) };
          return { kind: "answer", prompts: part, ...bounded, seed: seedOf(seed, "part", first) };
        },
        signal,
      ),
  };
}

/** Neighbours together, as many as a question may have; one that is longer than that goes alone. */
function inParts(
  sequences: Sequences,
  tokensOf: (ids: readonly number[]) => number,
): { first: number; part: number[][] }[] {
  const parts: { first: number; part: number[][] }[] = [];
  let tokens = Infinity;
  for (const [index, ids] of sequences.entries()) {
    const more = tokensOf(ids);
    const last = parts.at(-1);
    if (last === undefined || tokens + more > QUESTION_TOKENS || last.part.length === QUESTION_SEQUENCES) {
      parts.push({ first: index, part: [[...ids]] });
      tokens = more;
    } else {
      last.part.push([...ids]);
      tokens += more;
    }
  }
  return parts;
}

function neverCame(patienceMs: number, why: string): SpotterError {
  const minutes = Math.round(patienceMs / 60_000);
  return new SpotterError("teacher_failed", `The teacher did not answer for ${minutes} minutes: ${why}`, {
    where: "teacher",
    hint: "Look at its endpoint with `spotter endpoint logs`; the run's checkpoints are kept.",
  });
}

function unusable(asked: number, got: number, what: string): SpotterError {
  return new SpotterError(
    "teacher_failed",
    `The teacher was asked about ${asked} ${what} and graded ${got}.`,
    {
      where: "teacher",
      hint: "Use a server that gives the log-probability of every token of a prompt, as vLLM does.",
    },
  );
}
