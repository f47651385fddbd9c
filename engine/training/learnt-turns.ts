import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ChatMessage } from "../../sdk/schema/rollout.ts";
import type { LearnRole } from "../../sdk/schema/sft-algorithm.ts";

export interface LearntTurnsParams {
  messages: readonly ChatMessage[];
  roles: readonly LearnRole[];
  render: (messages: readonly ChatMessage[], addGenerationPrompt: boolean) => string;
  encode: (text: string) => number[];
  stopIds: readonly number[];
}

/** Characters of the rendered conversation that are learnt; an answer goes on to the token that ends its turn. */
interface Span {
  start: number;
  end: number;
  isAnswer: boolean;
}

/**
 * A whole conversation as the chat template writes it, and which of its tokens are learnt: the texts of the roles
 * asked for, and of the assistant all that it would write itself, calls of tools and the end of its turn included.
 * What is learnt is encoded apart from what stands before it, as it is when the model samples.
 *
 * @throws SpotterError `model_unsupported` where the template changes a message beyond recognition.
 */
export function learntTurns(params: LearntTurnsParams): { ids: number[]; mask: number[] } {
  const { messages, roles, render, encode, stopIds } = params;
  const whole = render(messages, false);
  const spans = messages.flatMap((message, index) =>
    roles.some((role) => role === message.role) ? [spanOf(params, whole, index)] : [],
  );
  const ids: number[] = [];
  const mask: number[] = [];
  const add = (text: string, learnt: (tokens: number[]) => number): void => {
    const tokens = encode(text);
    const count = learnt(tokens);
    ids.push(...tokens);
    mask.push(...tokens.map((_, at) => (at < count ? 1 : 0)));
  };
  let at = 0;
  for (const [index, { start, end, isAnswer }] of spans.entries()) {
    add(whole.slice(at, start), () => 0);
    at = isAnswer ? (spans[index + 1]?.start ?? whole.length) : end;
    add(whole.slice(start, at), (tokens) => {
      const stop = isAnswer ? tokens.findIndex((id) => stopIds.includes(id)) : -1;
      return stop === -1 ? tokens.length : stop + 1;
    });
  }
  add(whole.slice(at), () => 0);
  // Nothing predicts the first token.
  if (mask.length > 0) mask[0] = 0;
  return { ids, mask };
}

function spanOf({ messages, render }: LearntTurnsParams, whole: string, index: number): Span {
  const text = textOf(render, messages, whole, index);
  if (messages[index]?.role !== "assistant") return { ...text, isAnswer: false };
  // Where the model begins to write: before its reasoning, where the template keeps that.
  const before = index === 0 ? undefined : render(messages.slice(0, index), true);
  const begins = before !== undefined && whole.startsWith(before) ? before.length : text.start;
  return { start: Math.min(begins, text.start), end: text.end, isAnswer: true };
}

/** Stands for a message's text: no template changes it, and no conversation holds it. */
const TEXT = "SPOTTER-TEXT-4b7e";

/** Where a message's own text lies in the whole: between what is the same when it says something else. */
function textOf(
  render: LearntTurnsParams["render"],
  messages: readonly ChatMessage[],
  whole: string,
  index: number,
): { start: number; end: number } {
  const other = render(
    messages.map((message, at) => (at === index ? { ...message, content: TEXT } : message)),
    false,
  );
  const start = other.indexOf(TEXT);
  const behind = other.length - start - TEXT.length;
  const end = whole.length - behind;
  const isSame =
    start >= 0 &&
    end >= start &&
    whole.startsWith(other.slice(0, start)) &&
    whole.endsWith(other.slice(other.length - behind));
  if (isSame) return { start, end };
  throw new SpotterError(
    "model_unsupported",
    `The model's chat template does not keep the text of message ${index + 1}, so that it cannot be learnt.`,
    { hint: "Learn the last answers alone: leave learnRoles out." },
  );
}
