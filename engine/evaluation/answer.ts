import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseResponse } from "../../sdk/schema/parse-response.ts";
import type { ToolCall } from "../../sdk/schema/rollout.ts";
import type { JudgedAnswer } from "../reward-row.ts";

const completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.looseObject({
          content: z.nullish(z.string()),
          reasoning_content: z.nullish(z.string()),
          tool_calls: z.nullish(
            z.array(
              z.object({
                id: z.optional(z.string()),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            ),
          ),
        }),
        finish_reason: z.nullish(z.string()),
      }),
    )
    .check(z.minLength(1)),
  usage: z.nullish(z.object({ completion_tokens: z.number(), prompt_tokens: z.nullish(z.number()) })),
});
type Message = z.infer<typeof completion>["choices"][number]["message"];

/** One answer of an endpoint, as rewards and records want it. */
export interface Answer extends JudgedAnswer {
  text: string;
  /** Of all that was said before, where the endpoint counts. */
  promptTokens?: number;
}

/**
 * Reads a chat completion. An endpoint may hand reasoning and tool calls over apart from the content, or
 * leave them in it; the result is the same.
 *
 * @throws SpotterError `engine_failed` when it is none.
 */
export function readAnswer(body: unknown): Answer {
  const parsed = z.safeParse(completion, body);
  const choice = parsed.data?.choices[0];
  if (choice === undefined) {
    const why = parsed.error?.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
    throw new SpotterError(
      "engine_failed",
      `The endpoint's answer is no chat completion: ${why ?? "no choice"}.`,
    );
  }
  const text = choice.message.content ?? "";
  const inText = parseResponse(text);
  const promptTokens = parsed.data?.usage?.prompt_tokens ?? undefined;
  return {
    text,
    ...(promptTokens !== undefined && { promptTokens }),
    response: {
      content: inText.content,
      reasoning: choice.message.reasoning_content ?? inText.reasoning,
      toolCalls: [...toolCallsOf(choice.message), ...inText.toolCalls],
    },
    tokens: parsed.data?.usage?.completion_tokens ?? 0,
    finishReason: choice.finish_reason ?? "stop",
  };
}

function toolCallsOf(message: Message): ToolCall[] {
  return (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
    ...(id === undefined ? {} : { id }),
    name,
    arguments: parsedOrText(text),
  }));
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
