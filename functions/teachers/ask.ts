import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobTeacherReply, TeacherQuestion } from "../../sdk/schema/job-teacher.ts";
import { readText } from "../http/read-text.ts";
import { completionOf, tokensOf } from "./question.ts";

/** Where a teacher is asked, and as whom. */
export interface TeacherTarget {
  /** Up to and including `/v1`. */
  baseUrl: string;
  model: string;
  authorization?: string;
}

export interface AskParams {
  /** The caller went away. */
  signal: AbortSignal;
  /** Takes secrets out of what a server said. */
  redact: (text: string) => string;
  timeoutMs: number;
}

/** It may do later what it does not do now. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
const MAX_WORDS = 500;
/** Of a question's answer: every token of it with its log-probabilities is a fraction of that. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Puts one question to a teacher. One that is not up, busy, or out of reach is waited for by whoever asks.
 *
 * @throws SpotterError `teacher_failed`, `context_length_exceeded`, or `endpoint_failed` for one that will not come.
 */
export async function askTeacher(
  { baseUrl, model, authorization }: TeacherTarget,
  question: TeacherQuestion,
  { signal, redact, timeoutMs }: AskParams,
): Promise<JobTeacherReply> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify(completionOf(question, model)),
      // A key is for whom it was given, and for nobody that one points to.
      redirect: "manual",
      signal: AbortSignal.any([signal, limit]),
    });
    const text = await readText(response, MAX_ANSWER_BYTES);
    if (text === undefined) throw tooLarge();
    if (!response.ok) return refused(response.status, redact(text));
    return { sequences: tokensOf(question, parsed(text)) };
  } catch (error) {
    if (SpotterError.is(error)) throw error;
    signal.throwIfAborted();
    if (limit.aborted) return { waiting: `no answer within ${Math.round(timeoutMs / 1000)} s` };
    return { waiting: redact(reasonOf(error)) };
  }
}

const errorBody = z.object({
  error: z.object({ message: z.string(), code: z.nullish(z.union([z.string(), z.number()])) }),
});

function refused(status: number, text: string): JobTeacherReply {
  const error = z.safeParse(errorBody, parsed(text)).data?.error;
  const words = (error?.message ?? text).slice(0, MAX_WORDS).replaceAll(/\p{Cc}+/gu, " ");
  if (error?.code === "endpoint_failed")
    throw new SpotterError("endpoint_failed", words, { where: "teacher" });
  if (LATER.has(status)) return { waiting: words };
  if (error?.code === "context_length_exceeded") {
    throw new SpotterError("context_length_exceeded", `The teacher takes less than the student: ${words}`, {
      where: "teacher",
      hint: "Set contextTokens to what both take, or use a teacher with a longer context.",
    });
  }
  throw new SpotterError("teacher_failed", `The teacher answered ${status}: ${words}`, {
    where: "teacher",
    hint: "Correct its name, URL or key; a teacher scores given tokens, as vLLM does.",
  });
}

function tooLarge(): SpotterError {
  return new SpotterError(
    "teacher_failed",
    `The teacher answered with more than ${MAX_ANSWER_BYTES} bytes.`,
    {
      where: "teacher",
      hint: "Is its URL that of a server of OpenAI's /v1/completions?",
    },
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
