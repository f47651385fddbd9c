import type { ChatTemplate } from "../../engine/onnx/text/chat-template.ts";
import { trainBytePairs, type BytePairs } from "./byte-pairs.ts";
import { render, type Conversation } from "./conversation.ts";
import { shortConversation, toolConversation, topics } from "./corpus.ts";
import { Random } from "./random.ts";
import { controlTokens, markupTokens } from "./tokenizer-files.ts";

/** All ids together: control and markup tokens, the bytes, and what is learnt. */
export const VOCABULARY_SIZE = 1280;

/** Learns byte pairs from a sample of the corpus, as the chat template writes it. */
export function trainTokenizer(template: ChatTemplate, seed: number): BytePairs {
  const added = [...controlTokens, ...markupTokens];
  return trainBytePairs(sampleTexts(template, seed), VOCABULARY_SIZE - added.length);
}

function* sampleTexts(template: ChatTemplate, seed: number): Generator<string> {
  const random = new Random(seed);
  for (let i = 0; i < 20_000; i++) {
    const conversation: Conversation = i % 20 === 0 ? toolConversation(random) : shortConversation(random);
    // The added tokens are cut out by the tokenizer before it looks for pieces.
    for (const text of render(template, conversation).split(/<[^<>]*>/)) yield text;
  }
  // Topics weigh more than their share, so that every one of them becomes a single piece: the model can then
  // name a topic by copying one token. As the first word of a text they have no space before them.
  for (const topic of topics) {
    for (let i = 0; i < 150; i++) yield ` ${topic}`;
    for (let i = 0; i < 60; i++) yield topic;
  }
}
