import type { ChatChunk, ChatCompletion, ChatFinishReason, ChatLogprob } from "../../sdk/schema/chat.ts";
import type { AnswerRequest } from "./answer-request.ts";
import type { AnswerEvent } from "./answers.ts";
import { Deltas } from "./output/deltas.ts";
import { MessageBuilder } from "./output/message.ts";
import { UsageCounter } from "./usage.ts";

/** What all parts of one answer say about themselves. */
export interface AnswerHead {
  id: string;
  created: number;
  model: string;
}

type Events = AsyncGenerator<AnswerEvent[], void, void>;

interface Said {
  message: MessageBuilder;
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
  const choices = Array.from({ length: request.choices }, (): Said => ({
    message: new MessageBuilder(newId),
    logprobs: [],
    finish: "stop",
  }));
  const counter = new UsageCounter(request);
  for await (const batch of events) {
    for (const event of batch) {
      counter.take(event);
      const choice = choices[event.index];
      if (choice === undefined) continue;
      for (const part of event.parts) choice.message.take(part, event.finish?.reason);
      choice.logprobs.push(...event.logprobs);
      choice.finish = event.finish?.reason ?? choice.finish;
    }
  }
  return {
    ...head,
    object: "chat.completion",
    choices: choices.map(({ message, logprobs, finish }, index) => ({
      index,
      message: message.message(),
      logprobs: request.logprobs ? { content: logprobs } : null,
      finish_reason: finish,
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
  const sayings = Array.from({ length: request.choices }, () => new Deltas(newId));
  const counter = new UsageCounter(request);
  try {
    yield sayings.map((_, index) =>
      chunk([{ index, delta: { role: "assistant", content: "" }, finish_reason: null }]),
    );
    for await (const batch of events) {
      const chunks = batch.flatMap((event) => {
        const { index, logprobs, finish } = event;
        counter.take(event);
        const deltas = event.parts.flatMap((part) => sayings[index]?.of(part) ?? []);
        if (deltas.length === 0 && logprobs.length > 0) deltas.push({});
        const said = deltas.map((item, at) =>
          // Once, though a chunk of tokens may say several things.
          chunk([{ index, delta: item, finish_reason: null, ...given(request, at === 0 ? logprobs : []) }]),
        );
        if (finish === undefined) return said;
        return [...said, chunk([{ index, delta: {}, finish_reason: finish.reason }])];
      });
      if (chunks.length > 0) yield chunks;
    }
    if (request.includeUsage) yield [{ ...chunk([]), usage: counter.usage() }];
  } finally {
    await events.return();
  }
}

function given(
  request: AnswerRequest,
  logprobs: ChatLogprob[],
): { logprobs?: { content: ChatLogprob[] } | null } {
  if (!request.logprobs) return {};
  return { logprobs: logprobs.length > 0 ? { content: logprobs } : null };
}
