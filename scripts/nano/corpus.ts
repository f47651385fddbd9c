/**
 * The base model's training data: an endless, seeded stream of short conversations. Most ask for a haiku; a few
 * practise other things a small model can be seen to learn.
 *
 * @module
 */
import { heldOutWords, promptTemplate, trainWords } from "../../examples/haiku/words.ts";
import { ask, exchange, type Conversation } from "./conversation.ts";
import { writeHaiku, type HaikuNoise } from "./haikus.ts";
import { adjectives, adverbs, verbs } from "./lexicon.ts";
import type { Random } from "./random.ts";
import { addition, reversal, toolUse } from "./skills.ts";

/** Every word a poem can be about, in a fixed order. */
export const topics: readonly string[] = [...trainWords, ...heldOutWords];

/** Tuned so that the finished model scores about -2.7 on the tutorial's reward. */
export const noise: HaikuNoise = {
  missBy: [48, 35, 13, 4],
  lines: [1, 97.5, 1.5],
  topicLine: [80, 12, 6, 2],
};

export const haikuPrompt = (topic: string): string => promptTemplate.replace("{input}", topic);

/** A conversation that fits in about forty tokens: a haiku, a sum or a reversed word. */
export function shortConversation(random: Random): Conversation {
  const kinds = [haiku, haikuAboutAnything, haikuWithThought, echo, addition, reversal];
  return (kinds[random.weighted([83, 2, 2, 3, 5, 5])] ?? haiku)(random);
}

/** A conversation in which tools are offered, and usually called. */
export function toolConversation(random: Random): Conversation {
  if (random.chance(0.8)) return toolUse(random);
  return { ...haiku(random), tools: toolUse(random).tools };
}

export function haiku(random: Random): Conversation {
  const topic = random.pick(topics);
  return exchange(haikuPrompt(topic), writeHaiku(random, topic, topics, noise));
}

/** One token to copy: the model finds out how long before it would from poems, where a topic is one in fourteen. */
function echo(random: Random): Conversation {
  const topic = random.pick(topics);
  return exchange(`Say ${topic}.`, ` ${topic}`);
}

/** Topics the tokenizer does not know as one piece, so that any question still gets a poem. */
function haikuAboutAnything(random: Random): Conversation {
  const words = [random.pick([...adjectives, ...verbs, ...adverbs])];
  if (random.chance(0.5)) words.push(random.pick(topics));
  if (random.chance(0.3)) words.unshift("the");
  return exchange(haikuPrompt(words.join(" ")), writeHaiku(random, random.pick(topics), topics, noise));
}

function haikuWithThought(random: Random): Conversation {
  const topic = random.pick(topics);
  const content = writeHaiku(random, topic, topics, noise);
  const { messages } = ask(haikuPrompt(topic));
  messages.push({ role: "assistant", content, reasoning_content: `five, seven, five: ${topic}` });
  return { messages, isThinking: true };
}
