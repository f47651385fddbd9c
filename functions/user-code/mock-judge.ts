import { exampleValue } from "../../sdk/schema/example-value.ts";
import { sha256Of } from "../records/hash.ts";

/** The address that the mock judge is asked at: nobody listens there, see {@link mockJudge}. */
export const MOCK_JUDGE_URL = "http://mock.invalid/v1";

/**
 * In the place of a server that judges: a verdict that fits the schema that is asked for, the same for the same
 * question, and about anything at all. It goes the way of a real answer, so that what a reward does with one is tried.
 */
export const mockJudge: typeof fetch = (_url, init) => {
  const { messages, response_format: format } = JSON.parse(init?.body as string) as {
    messages: unknown;
    response_format: { json_schema: { schema: unknown } };
  };
  const verdict = exampleValue(format.json_schema.schema, pickBy(JSON.stringify(messages)));
  const choices = [{ message: { content: JSON.stringify(verdict) } }];
  return Promise.resolve(Response.json({ choices, usage: { total_tokens: 0 } }));
};

/** One choice after the other, all of them made by a text. */
function pickBy(text: string): (count: number) => number {
  let made = 0;
  return (count) => Number.parseInt(sha256Of(`${made++} ${text}`).slice(0, 8), 16) % count;
}
