import type {
  ChatAssistantMessage,
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  ChatFinishReason,
  ChatLogprob,
  ChatToolCall,
} from "../../sdk/schema/chat.ts";
import type { ResponsePart } from "../../sdk/schema/parse-response.ts";
import type { ToolCall } from "../../sdk/schema/rollout.ts";
import type { AnswerRequest } from "./answer-request.ts";
import type { AnswerEvent } from "./answers.ts";
import { UsageCounter } from "./usage.ts";

/** What all parts of one answer say about themselves. */
export interface AnswerHead {
  id: string;
  created: number;
  model: string;
}

type Events = AsyncGenerator<AnswerEvent[], void, void>;

interface Said {
  index: number;
  content: string;
  reasoning: string;
  calls: ChatToolCall[];
  logprobs: ChatLogprob[];
  finish: ChatFinishReason;
}

/** The whole answer at once. */
export async function chatCompletion(
  head: AnswerHead,
  request: AnswerRequest,
  events: Events,
  newId: () => string,
): Promise<ChatCompletion> {
  const choices = Array.from({ length: request.choices }, (_, index): Said => ({
    index,
    content: "",
    reasoning: "",
    calls: [],
    logprobs: [],
    finish: "stop",
  }));
  const counter = new UsageCounter(request);
  for await (const batch of events) {
    for (const event of batch) {
      counter.take(event);
      const choice = choices[event.index];
      if (choice === undefined) continue;
      for (const part of event.parts) {
        if (part.type === "content") choice.content += part.text;
        else if (part.type === "reasoning") choice.reasoning += part.text;
        else choice.calls.push(toolCall(part.call, newId));
      }
      choice.logprobs.push(...event.logprobs);
      choice.finish = event.finish?.reason ?? choice.finish;
    }
  }
  return {
    ...head,
    object: "chat.completion",
    choices: choices.map((said) => ({
      index: said.index,
      message: message(said),
      logprobs: request.logprobs ? { content: said.logprobs } : null,
      finish_reason: said.finish,
    })),
    usage: counter.usage(),
  };
}

/** The answer in chunks: a role, deltas and a reason to finish for each choice, and usage if asked for. */
export async function* chatChunks(
  head: AnswerHead,
  request: AnswerRequest,
  events: Events,
  newId: () => string,
): AsyncGenerator<ChatChunk[], void, void> {
  const chunk = (choices: ChatChunk["choices"]): ChatChunk => ({
    ...head,
    object: "chat.completion.chunk",
    choices,
    ...(request.includeUsage ? { usage: null } : {}),
  });
  const toolCalls = Array.from({ length: request.choices }, () => 0);
  const counter = new UsageCounter(request);
  try {
    yield toolCalls.map((_, index) =>
      chunk([{ index, delta: { role: "assistant", content: "" }, finish_reason: null }]),
    );
    for await (const batch of events) {
      yield batch.flatMap((event) => {
        const { index, logprobs, finish } = event;
        counter.take(event);
        const deltas = event.parts.map((part) => delta(part, newId, () => nextOf(toolCalls, index)));
        if (deltas.length === 0 && logprobs.length > 0) deltas.push({});
        const chunks = deltas.map((item, at) =>
          // Once, though a chunk of tokens may say several things.
          chunk([{ index, delta: item, finish_reason: null, ...given(request, at === 0 ? logprobs : []) }]),
        );
        if (finish === undefined) return chunks;
        return [...chunks, chunk([{ index, delta: {}, finish_reason: finish.reason }])];
      });
    }
    if (request.includeUsage) yield [{ ...chunk([]), usage: counter.usage() }];
  } finally {
    await events.return();
  }
}

/** Counts up. */
function nextOf(counters: number[], index: number): number {
  const value = counters[index] ?? 0;
  counters[index] = value + 1;
  return value;
}

function given(
  request: AnswerRequest,
  logprobs: ChatLogprob[],
): { logprobs?: { content: ChatLogprob[] } | null } {
  if (!request.logprobs) return {};
  return { logprobs: logprobs.length > 0 ? { content: logprobs } : null };
}

function delta(part: ResponsePart, newId: () => string, nextIndex: () => number): ChatDelta {
  switch (part.type) {
    case "content":
      return { content: part.text };
    case "reasoning":
      return { reasoning_content: part.text };
    case "tool-call":
      return { tool_calls: [{ index: nextIndex(), ...toolCall(part.call, newId) }] };
  }
}

function message({ content, reasoning, calls }: Said): ChatAssistantMessage {
  return {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toolCall(call: ToolCall, newId: () => string): ChatToolCall {
  const input = call.arguments;
  return {
    id: `call_${newId()}`,
    type: "function",
    function: { name: call.name, arguments: typeof input === "string" ? input : JSON.stringify(input) },
  };
}
