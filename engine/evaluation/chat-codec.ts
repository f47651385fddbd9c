import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import type { Prompt, PromptCodec } from "../training/text.ts";

/** Letters of a token, as a rule of thumb. */
const LETTERS = 4;

/**
 * Measures texts where no tokenizer is at hand: an endpoint says how many tokens a conversation has only after it has
 * read it. Until then four letters count as one. The ids mean nothing but where a text may be cut.
 */
export function createChatCodec(): PromptCodec {
  const pieces: string[] = [];

  function idsOf(text: string): number[] {
    const first = pieces.length;
    for (let at = 0; at < text.length; at += LETTERS) pieces.push(text.slice(at, at + LETTERS));
    return Array.from({ length: pieces.length - first }, (_, index) => first + index);
  }

  function conversation(messages: readonly ChatMessage[]): Prompt {
    const letters = JSON.stringify(messages).length;
    return { text: "", ids: placeholders(Math.ceil(letters / LETTERS)) };
  }

  return {
    promptIds: (row) => conversation(row.prompt as ChatMessage[]).ids,
    promptOf: (row) => conversation(row.prompt as ChatMessage[]),
    conversation,
    continuation: (said) => conversation(said),
    textIds: idsOf,
    parseAfter: notHere,
    completionIds: notHere,
    learntTurns: notHere,
    decode: (ids) => ids.map((id) => pieces[id] ?? "").join(""),
    parse: notHere,
    stopIds: [],
    endId: 0,
    contextLength: Infinity,
  };
}

/** As many tokens, whatever they are. */
export function placeholders(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

function notHere(): never {
  throw new RangeError("An endpoint takes answers apart by itself.");
}
