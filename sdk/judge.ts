/** A question to a model that judges. */
export interface JudgeParams {
  model: string;
  /** What is asked, with the answer to judge in it. */
  prompt: string;
  system?: string;
  /** JSON Schema of the answer. Default: `{ score }`, which is 0 or 1. */
  schema?: Record<string, unknown>;
  /** Longest answer. Default 1024. */
  maxTokens?: number;
  /** Default: the model's own. */
  temperature?: number;
  /** What a run may ask in all. Default: 20,000 calls and 20 million tokens. */
  budget?: { calls?: number; tokens?: number };
}

/**
 * Asks a model for an answer that keeps to a schema. The control plane asks, not the isolate, which has no network: the
 * reward is run again once the answer is there, so what stands before the call runs twice. Equal questions are asked
 * once, busy servers again.
 *
 * Server and key are the granted secrets `OPENAI_BASE_URL` (without it OpenAI) and `OPENAI_API_KEY`; endpoints of this
 * home are at `http://127.0.0.1:PORT/v1` with a key of `spotter key create`.
 *
 * Rejects where no answer can be had, so that the row has no verdict.
 *
 * @example
 * export const kind = reward(async ({ response, judge }) => {
 *   const { score } = await judge({ model: "gpt-5-nano", prompt: `Is this kind? 1 or 0.\n\n${response.content}` });
 *   return score;
 * });
 */
export type Judge = <Answer extends object = { score: number }>(params: JudgeParams) => Promise<Answer>;
