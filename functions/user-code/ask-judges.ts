import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { judgeAsk, type JudgeAnswer, type JudgeAsk } from "../../sdk/schema/judge-ask.ts";
import { judgeServer } from "../../sdk/schema/judge-grants.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import { schemaFault } from "../../sdk/schema/schema-fault.ts";

/** Questions of all rewards of this process, under way at once. */
const AT_ONCE = 8;
const TRIES = 4;
const TIMEOUT_MS = 120_000;
const MAX_KEPT = 5_000;
const MAX_SPENDERS = 1_000;
const BUDGET = { calls: 20_000, tokens: 20_000_000 };
/** Too many at once, and what servers say while they start or break. */
const AGAIN = [408, 409, 429, 500, 502, 503, 504];

const SCORE = {
  type: "object",
  properties: { score: { type: "integer", enum: [0, 1] } },
  required: ["score"],
  additionalProperties: false,
};

export interface JudgesParams {
  /** Granted to the code that asks: `OPENAI_BASE_URL` and `OPENAI_API_KEY` say who is asked. */
  secrets: Readonly<Record<string, string>>;
  /** Whose budget it is: a run. */
  spender: string;
  fetch?: typeof fetch;
  sleep?: (ms: number) => Promise<void>;
  signal?: AbortSignal | undefined;
  /** Called with each question, also one that was answered before. */
  onAsk?: (() => void) | undefined;
}

/** Answers that were given, by who was asked what. The least recently used goes first. */
const kept = new Map<string, Promise<unknown>>();
const spent = new Map<string, { calls: number; tokens: number }>();
let running = 0;
const waiting: (() => void)[] = [];

/** Asks a model one question of a reward. Never rejects: why there is no answer is an answer, too. */
export async function askJudge(given: unknown, params: JudgesParams): Promise<JudgeAnswer> {
  params.onAsk?.();
  try {
    const ask = parseWith(judgeAsk, given, "judge");
    const { base, fault } = judgeServer(params.secrets);
    if (fault !== undefined) return { error: fault };
    const key = `${base}\n${JSON.stringify(ask)}`;
    const before = kept.get(key);
    const answer = before ?? inTurn(() => paid(ask, base, params));
    kept.delete(key);
    kept.set(key, answer);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    answer.catch(() => kept.delete(key));
    return { value: await answer };
  } catch (error) {
    return { error: SpotterError.from(error).message };
  }
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/** Within the budget of the run, as far as this process knows it. */
async function paid(ask: JudgeAsk, base: string, params: JudgesParams): Promise<unknown> {
  const { calls = BUDGET.calls, tokens = BUDGET.tokens } = ask.budget ?? {};
  const book = spent.get(params.spender) ?? { calls: 0, tokens: 0 };
  spent.delete(params.spender);
  spent.set(params.spender, book);
  const [oldest] = spent.keys();
  if (spent.size > MAX_SPENDERS && oldest !== undefined) spent.delete(oldest);
  if (book.calls >= calls || book.tokens >= tokens)
    throw new Error(`the budget is spent: ${book.calls} calls and ${book.tokens} tokens`);
  book.calls++;
  const reply = await request(ask, base, params);
  book.tokens += reply.usage?.total_tokens ?? 0;
  return fitting(objectIn(reply.choices[0]?.message.content ?? ""), ask.schema ?? SCORE);
}

/** Of a chat completion what is read here. Servers may say null where they have nothing to say. */
const chatReply = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.nullish(z.string()) }) })),
  usage: z.nullish(z.object({ total_tokens: z.nullish(z.number().check(z.gte(0))) })),
});
type Reply = z.infer<typeof chatReply>;

async function request(ask: JudgeAsk, base: string, params: JudgesParams): Promise<Reply> {
  const { secrets, fetch: send = fetch, sleep = later, signal } = params;
  const key = secrets["OPENAI_API_KEY"];
  const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])];
  for (let attempt = 1; ; attempt++) {
    const response = await send(`${base}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(bodyOf(ask)),
      // Elsewhere is not what was granted.
      redirect: "error",
      signal: AbortSignal.any(limits),
    }).catch((error: unknown) => {
      if (attempt >= TRIES || signal?.aborted)
        throw new Error(`${base} cannot be reached: ${reasonOf(error)}`);
      return undefined;
    });
    if (response?.ok) return replyIn(await response.text(), base);
    const text = response ? (await response.text()).slice(0, 300) : "";
    if (response && (attempt >= TRIES || !AGAIN.includes(response.status)))
      throw new Error(`${base} answered ${response.status}: ${text}`);
    const told = Number(response?.headers.get("retry-after") ?? Number.NaN);
    await sleep(Number.isFinite(told) ? Math.min(60_000, told * 1_000) : 250 * 2 ** attempt);
  }
}

function bodyOf({ model, prompt, system, schema = SCORE, maxTokens = 1_024, temperature }: JudgeAsk): object {
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ],
    max_completion_tokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    response_format: { type: "json_schema", json_schema: { name: "judgement", strict: true, schema } },
  };
}

function replyIn(text: string, base: string): Reply {
  const { success, data } = chatReply.safeParse(jsonIn(text));
  if (success) return data;
  throw new Error(`${base} answered with something that is no chat completion: ${text.slice(0, 200)}`);
}

function objectIn(content: string): object {
  const value = jsonIn(content);
  if (typeof value === "object" && value !== null) return value;
  throw new Error(`the answer is no JSON object: ${content.slice(0, 200)}`);
}

/** Servers that do not know `response_format` answer as they like, and a reward would read what is not there as false. */
function fitting(answer: object, schema: object): object {
  const fault = schemaFault(answer, schema);
  if (fault === undefined) return answer;
  throw new Error(`the answer does not fit the schema: ${fault}`);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return cause?.message ?? message ?? String(error);
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
