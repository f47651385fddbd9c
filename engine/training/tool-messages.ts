import type { JobCallResult } from "../../sdk/schema/job.ts";
import type { ChatMessage, ToolCall } from "../../sdk/schema/rollout.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import { roomAhead, type Episode } from "./episode.ts";
import type { PromptCodec } from "./text.ts";

/** Ends a text that was cut, for the model and for readers of rollouts. */
export const CUT_MARK = " …[cut]";

/** Tokens left for the template's own words around an answer and for the model to go on. */
const SPARE_TOKENS = 32;

/**
 * The answers of a turn's calls as messages. One that is longer than `maxToolTokens`, or than what the
 * conversation has room for, is cut, and the episode says so.
 */
export function toolMessages(
  episode: Episode,
  codec: PromptCodec,
  answers: readonly { call: ToolCall; result: JobCallResult | undefined }[],
  rollout: Pick<RunSpec["rollout"], "maxToolTokens" | "contextTokens" | "includeThinking">,
): ChatMessage[] {
  const limitTokens = Math.min(rollout.contextTokens ?? Infinity, codec.contextLength);
  let room =
    roomAhead(episode, codec, { limitTokens, includeThinking: rollout.includeThinking }) - SPARE_TOKENS;
  return answers.map(({ call, result }, index) => {
    // Each gets its share of what is left, so that the last call is answered as well.
    const share = Math.floor(room / (answers.length - index));
    const { text, tokens, isCut } = cutTo(codec, textOf(call, result), {
      asked: rollout.maxToolTokens ?? Infinity,
      room: share,
    });
    room -= tokens;
    if (isCut) episode.cutAnswers++;
    return { role: "tool", tool_call_id: call.id, name: call.name, content: text };
  });
}

/** What the model reads: a text as it is, everything else as JSON, an error as an object that says so. */
function textOf({ name }: ToolCall, result: JobCallResult | undefined): string {
  if (result === undefined) return JSON.stringify({ error: `there is no tool "${name}"` });
  if ("error" in result) return JSON.stringify({ error: result.error.message });
  return typeof result.value === "string" ? result.value : JSON.stringify(result.value);
}

function cutTo(
  codec: PromptCodec,
  text: string,
  { asked, room }: { asked: number; room: number },
): { text: string; tokens: number; isCut: boolean } {
  const limit = Math.max(0, Math.min(asked, room));
  const ids = codec.textIds(text);
  if (ids.length <= limit) return { text, tokens: ids.length, isCut: false };
  const mark = codec.textIds(CUT_MARK).length;
  const kept = codec.decode(ids.slice(0, Math.max(0, limit - mark)));
  return { text: `${kept}${CUT_MARK}`, tokens: limit, isCut: true };
}
