import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { TeacherQuestion, TeacherTokens } from "../../sdk/schema/job-teacher.ts";

/** What a teacher that holds a token for impossible says instead: JSON has no infinity. */
const IMPOSSIBLE = -10_000;

/** A question as `/v1/completions` takes it, with every token by its id: texts of tokens are not exact. */
export function completionOf(question: TeacherQuestion, model: string): Record<string, unknown> {
  const common = { model, logprobs: 0, return_tokens_as_token_ids: true };
  switch (question.kind) {
    case "score":
      return { ...common, prompt: question.sequences, max_tokens: 0, echo: true };
    case "read":
      return { ...common, prompt: question.text, max_tokens: 0, echo: true };
    case "answer": {
      const { prompts, maxTokens, temperature, topP, topK, seed } = question;
      const sampling = { temperature, top_p: topP, ...(topK > 0 && { top_k: topK }), seed };
      return { ...common, prompt: prompts, max_tokens: maxTokens, ...sampling };
    }
  }
}

const completion = z.object({
  choices: z.array(
    z.object({
      index: z.number(),
      finish_reason: z.nullish(z.string()),
      logprobs: z.nullish(
        z.object({
          tokens: z.array(z.string()),
          token_logprobs: z.array(z.nullable(z.number())),
        }),
      ),
    }),
  ),
});

/**
 * What a teacher answered, a list of tokens for each text, in their order.
 *
 * @throws SpotterError `teacher_failed` where it says less than was asked.
 */
export function tokensOf(question: TeacherQuestion, answer: unknown): TeacherTokens[] {
  const parsed = z.safeParse(completion, answer);
  if (!parsed.success) throw useless("what it answered is no completion");
  const choices = [...parsed.data.choices].sort((a, b) => a.index - b.index);
  const asked = textsOf(question);
  if (choices.length !== asked)
    throw useless(`it was asked about ${asked} texts and answered ${choices.length}`);
  return choices.map(({ logprobs, finish_reason: reason }, at) => {
    if (!logprobs) throw useless("it gives no log-probabilities");
    const values = logprobs.token_logprobs.map((each, index) =>
      question.kind !== "answer" && index === 0 ? 0 : (each ?? IMPOSSIBLE),
    );
    if (question.kind === "score") return { ids: question.sequences[at] ?? [], logprobs: values };
    const ids = logprobs.tokens.map(idOf);
    return question.kind === "read"
      ? { ids, logprobs: values }
      : { ids, logprobs: values, isEnded: reason === "stop" };
  });
}

function textsOf(question: TeacherQuestion): number {
  if (question.kind === "read") return 1;
  return question.kind === "score" ? question.sequences.length : question.prompts.length;
}

function idOf(token: string): number {
  const [, id] = /^token_id:(\d+)$/.exec(token) ?? [];
  if (id === undefined) throw useless("it does not name tokens by their ids (return_tokens_as_token_ids)");
  return Number(id);
}

function useless(why: string): SpotterError {
  return new SpotterError("teacher_failed", `The teacher cannot teach: ${why}.`, {
    where: "teacher",
    hint: "Use an endpoint of this home, or a server that scores given tokens, such as vLLM.",
  });
}
