import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, RetryError } from "ai";
import OpenAI from "openai";

/** How a stock client sees an answer. */
export interface Seen {
  text?: string;
  /** What it threw: the class, and what it read from the answer. */
  error?: {
    name: string;
    status: number | undefined;
    code: unknown;
    param: unknown;
    type: unknown;
    message: string;
  };
}

export interface AskParams {
  baseURL: string;
  key: string;
  model: string;
  /** Default 0. */
  retries?: number;
  temperature?: number;
  /** Stands in for the network. */
  fetch?: typeof fetch;
}

export interface StockClient {
  name: string;
  ask(params: AskParams): Promise<Seen>;
}

const PROMPT = "hi";

export const openai: StockClient = {
  name: "openai",
  ask: ({ baseURL, key, model, retries = 0, temperature, fetch }) =>
    seen(async () => {
      const client = new OpenAI({ baseURL, apiKey: key, maxRetries: retries, ...(fetch && { fetch }) });
      const answer = await client.chat.completions.create({
        model,
        messages: [{ role: "user", content: PROMPT }],
        ...(temperature !== undefined && { temperature }),
      });
      return answer.choices[0]?.message.content ?? "";
    }),
};

export const aiSdk: StockClient = {
  name: "ai with @ai-sdk/openai-compatible",
  ask: ({ baseURL, key, model, retries = 0, temperature, fetch }) =>
    seen(async () => {
      const provider = createOpenAICompatible({
        name: "spotter",
        baseURL,
        apiKey: key,
        ...(fetch && { fetch }),
      });
      const { text } = await generateText({
        model: provider(model),
        prompt: PROMPT,
        maxRetries: retries,
        ...(temperature !== undefined && { temperature }),
      });
      return text;
    }),
};

export const langchain: StockClient = {
  name: "@langchain/openai",
  ask: ({ baseURL, key, model, retries = 0, temperature, fetch }) =>
    seen(async () => {
      const chat = new ChatOpenAI({
        model,
        apiKey: key,
        maxRetries: retries,
        configuration: { baseURL, ...(fetch && { fetch }) },
        ...(temperature !== undefined && { temperature }),
      });
      const { content } = await chat.invoke(PROMPT);
      return typeof content === "string" ? content : JSON.stringify(content);
    }),
};

export const STOCK_CLIENTS = [openai, aiSdk, langchain];

async function seen(ask: () => Promise<string>): Promise<Seen> {
  try {
    return { text: await ask() };
  } catch (thrown) {
    const last = RetryError.isInstance(thrown) ? thrown.lastError : thrown;
    return { error: APICallError.isInstance(last) ? fromAiSdk(last) : fromOpenAi(last) };
  }
}

function fromAiSdk(error: APICallError): Seen["error"] {
  const body = error.data as { error?: Record<string, unknown> } | undefined;
  const { code, param, type } = body?.error ?? {};
  return { name: error.name, status: error.statusCode, code, param, type, message: error.message };
}

/** LangChain passes on what openai throws. */
function fromOpenAi(thrown: unknown): Seen["error"] {
  if (!(thrown instanceof Error)) throw thrown;
  const { status, code, param, type } = thrown as Error &
    Record<"status" | "code" | "param" | "type", unknown>;
  const name = thrown.constructor.name;
  return {
    ...{ name, code, param, type, message: thrown.message },
    status: typeof status === "number" ? status : undefined,
  };
}
