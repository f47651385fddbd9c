import { EventSourceParserStream } from "eventsource-parser/stream";
import type { ChatChunk, OpenAiErrorBody } from "../../../sdk/schema/chat.ts";
import type { ChatOptions, ChatProps, ChatTurn } from "../views/chat-view.ts";
import { messageOf, problemOf } from "./api.ts";

/** A conversation with an endpoint: what was said, and the answer as it comes. */
export function createConversation(
  model: string,
  changed: () => void,
): { props(): Omit<ChatProps, "canSend"> } {
  let turns: ChatTurn[] = [];
  let answering: AbortController | undefined;

  async function send(text: string, options: ChatOptions): Promise<void> {
    const answer: ChatTurn = { role: "assistant", content: "" };
    const messages = [
      ...(options.system === "" ? [] : [{ role: "system", content: options.system }]),
      ...turns.filter(({ content }) => content !== "").map(({ role, content }) => ({ role, content })),
      { role: "user", content: text },
    ];
    turns = [...turns, { role: "user", content: text }, answer];
    const abort = (answering = new AbortController());
    changed();
    try {
      const body = JSON.stringify({
        model,
        messages,
        stream: true,
        temperature: options.temperature,
        max_tokens: options.maxTokens,
      });
      const headers = { "content-type": "application/json" };
      const response = await fetch("/ui/api/chat", { method: "POST", headers, body, signal: abort.signal });
      if (!response.ok || response.body === null) answer.problem = await problemOf(response);
      else await readAnswer(response.body, answer, changed);
    } catch (error) {
      if (abort.signal.aborted) answer.note = "stopped";
      else answer.problem = messageOf(error);
    }
    if (answering === abort) answering = undefined;
    changed();
  }

  return {
    props: () => ({
      turns,
      isBusy: answering !== undefined,
      onSend: (text, options) => void send(text, options),
      onStop: () => answering?.abort(),
      onClear() {
        turns = [];
        changed();
      },
    }),
  };
}

async function readAnswer(
  body: ReadableStream<Uint8Array>,
  answer: ChatTurn,
  changed: () => void,
): Promise<void> {
  const text = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
  const reader = text.pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value.data === "[DONE]") return;
    const chunk = JSON.parse(value.data) as Partial<ChatChunk> & Partial<OpenAiErrorBody>;
    if (chunk.error !== undefined) answer.problem = chunk.error.message;
    const choice = chunk.choices?.[0];
    answer.content += choice?.delta.content ?? "";
    if (choice?.delta.reasoning_content)
      answer.reasoning = (answer.reasoning ?? "") + choice.delta.reasoning_content;
    if (choice?.finish_reason === "length") answer.note = "cut off at the max tokens";
    changed();
  }
}
