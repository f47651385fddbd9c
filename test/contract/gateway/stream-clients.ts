import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import type { AIMessageChunk } from "@langchain/core/messages";
import { jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

/** How a stock client sees a stream. */
export interface StreamSeen {
  text: string;
  reasoning: string;
  tools: { name: string; input: unknown }[];
  finish: string | undefined;
  tokens: number | undefined;
  /** Message of what it threw or reported, text before it kept. */
  error?: string;
}

export interface StreamParams {
  /** With `/v1`. */
  baseURL: string;
  key: string;
  /** Offers a tool `weather`. */
  tools?: boolean;
  signal?: AbortSignal;
  onText?: () => void;
}

export interface StreamClient {
  name: string;
  stream(params: StreamParams): Promise<StreamSeen>;
}

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } } as const;
const WEATHER = { type: "function", function: { name: "weather", parameters: PARAMETERS } } as const;
const PROMPT = [{ role: "user" as const, content: "hi" }];

const nothing = (): StreamSeen => ({
  text: "",
  reasoning: "",
  tools: [],
  finish: undefined,
  tokens: undefined,
});

/** The client's own helper: it checks what it puts together. */
export const openaiHelper: StreamClient = {
  name: "openai, its stream helper",
  async stream({ baseURL, key, tools, signal, onText }) {
    const seen = nothing();
    const client = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
    const runner = client.chat.completions.stream(
      {
        model: "base",
        messages: PROMPT,
        stream_options: { include_usage: true },
        ...(tools === true && { tools: [WEATHER] }),
      },
      { ...(signal && { signal }) },
    );
    runner.on("content", (delta) => {
      seen.text += delta;
      onText?.();
    });
    return guarded(seen, async () => {
      const { choices, usage } = await runner.finalChatCompletion();
      const [choice] = choices;
      seen.finish = choice?.finish_reason;
      seen.tokens = usage?.completion_tokens;
      for (const call of choice?.message.tool_calls ?? [])
        if (call.type === "function")
          seen.tools.push({ name: call.function.name, input: JSON.parse(call.function.arguments) });
    });
  },
};

/** The bare iterator: it ends quietly where a stream does. */
export const openaiIterator: StreamClient = {
  name: "openai, its iterator",
  stream({ baseURL, key, signal, onText }) {
    const seen = nothing();
    const client = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
    return guarded(seen, async () => {
      const chunks = await client.chat.completions.create(
        { model: "base", messages: PROMPT, stream: true },
        { ...(signal && { signal }) },
      );
      for await (const chunk of chunks) {
        // As people write it: without usage asked for, no chunk is without a choice.
        const choice = chunk.choices[0] as OpenAI.ChatCompletionChunk.Choice;
        const delta = choice.delta as { content?: string | null; reasoning_content?: string };
        seen.text += delta.content ?? "";
        seen.reasoning += delta.reasoning_content ?? "";
        seen.finish = choice.finish_reason ?? seen.finish;
        onText?.();
      }
    });
  },
};

export const aiSdkStream: StreamClient = {
  name: "ai with @ai-sdk/openai-compatible",
  stream({ baseURL, key, tools, signal, onText }) {
    const seen = nothing();
    const provider = createOpenAICompatible({ name: "spotter", baseURL, apiKey: key, includeUsage: true });
    return guarded(seen, async () => {
      const result = streamText({
        model: provider("base"),
        prompt: "hi",
        maxRetries: 0,
        onError: () => undefined,
        ...(signal && { abortSignal: signal }),
        ...(tools === true && { tools: { weather: tool({ inputSchema: jsonSchema(PARAMETERS) }) } }),
      });
      for await (const part of result.fullStream) {
        if (part.type === "text-delta") {
          seen.text += part.text;
          onText?.();
        } else if (part.type === "reasoning-delta") seen.reasoning += part.text;
        else if (part.type === "tool-call") seen.tools.push({ name: part.toolName, input: part.input });
        else if (part.type === "error") throw part.error;
        else if (part.type === "abort") throw new Error("aborted");
        else if (part.type === "finish") {
          seen.finish = part.finishReason.replace("-", "_");
          seen.tokens = part.totalUsage.outputTokens;
        }
      }
    });
  },
};

export const langchainStream: StreamClient = {
  name: "@langchain/openai",
  stream({ baseURL, key, tools, signal, onText }) {
    const seen = nothing();
    const chat = new ChatOpenAI({ model: "base", apiKey: key, maxRetries: 0, configuration: { baseURL } });
    return guarded(seen, async () => {
      const model = tools === true ? chat.bindTools([WEATHER]) : chat;
      let all: AIMessageChunk | undefined;
      for await (const chunk of await model.stream("hi", { ...(signal && { signal }) })) {
        all = all === undefined ? chunk : all.concat(chunk);
        seen.text = typeof all.content === "string" ? all.content : JSON.stringify(all.content);
        if (seen.text !== "") onText?.();
      }
      const facts = (all?.response_metadata ?? {}) as { finish_reason?: string };
      seen.finish = facts.finish_reason;
      seen.tokens = all?.usage_metadata?.output_tokens;
      for (const call of all?.tool_calls ?? []) seen.tools.push({ name: call.name, input: call.args });
    });
  },
};

export const STREAM_CLIENTS = [openaiHelper, openaiIterator, aiSdkStream, langchainStream];

async function guarded(seen: StreamSeen, run: () => Promise<void>): Promise<StreamSeen> {
  try {
    await run();
  } catch (error) {
    seen.error = error instanceof Error ? error.message : JSON.stringify(error);
  }
  return seen;
}
