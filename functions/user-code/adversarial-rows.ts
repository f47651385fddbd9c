import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { chatMessage, type ChatMessage, type RewardRow } from "../../sdk/schema/rollout.ts";

export interface ProbeRow {
  /** Index of the dataset row. */
  dataset: number;
  /** Which answer it was given, for messages. */
  answer: "an empty answer" | "the row's own text" | "a very long answer" | "an answer full of Unicode";
  row: RewardRow;
}

const LONG = "word ".repeat(4_000);
const UNICODE =
  "\u{1F600} e\u0301 \u202Eright to left\u202C \u0000 \uFFFD \u{10FFFF}\n\n\t\u2028 你好 <b>&amp;</b> \\ \" '`${x}";

/** Rows with the answers that break careless rewards: what a model says on a bad day. */
export function adversarialRows(rows: readonly DatasetRow[]): ProbeRow[] {
  return rows.flatMap((row, dataset) => {
    const own = ownText(row);
    const answers: [ProbeRow["answer"], string][] = [
      ["an empty answer", ""],
      ...(own === undefined ? [] : [["the row's own text", own] as [ProbeRow["answer"], string]]),
      ["a very long answer", LONG],
      ["an answer full of Unicode", UNICODE],
    ];
    return answers.map(([answer, content]) => ({ dataset, answer, row: rewardRowOf(row, content) }));
  });
}

/** What a good answer to the row may look like: its completion, else its longest text. */
function ownText({ completion, row }: DatasetRow): string | undefined {
  if (completion !== undefined) return completion;
  const texts = Object.values(row).filter((value) => typeof value === "string");
  return texts.sort((a, b) => b.length - a.length)[0];
}

/** What a reward is given for one answer to a dataset row. */
export function rewardRowOf({ prompt, row }: DatasetRow, content: string): RewardRow {
  const answer: ChatMessage = { role: "assistant", content };
  const messages = prompt.flatMap((message) => {
    const parsed = chatMessage.safeParse(message);
    return parsed.success ? [parsed.data] : [];
  });
  return {
    row,
    metadata: recordOf(row["metadata"]),
    variables: recordOf(row["variables"]),
    response: { content, reasoning: "", toolCalls: [] },
    completion: { tokens: Math.ceil(content.length / 4), finishReason: content === LONG ? "length" : "stop" },
    messages: [...messages, answer],
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : {};
}
