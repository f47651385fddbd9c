import type { Dataset, FormattedRow } from "../../../dataset.ts";
import { SpotterError } from "../../../schema/errors.ts";

/** Rows to learn from: a file, or a dataset of the hub. */
export type AnswerSource =
  { file: string } | { repo: string; config: string | undefined; split: string | undefined };

type Message = { role: string; content: unknown };
type RawRow = Record<string, unknown>;

/**
 * The dataset of a source whose rows hold conversations: `messages`, or `prompt` and `completion`, each a text or a
 * list of messages. What of it is learned is told by role.
 */
export async function answersOf(source: AnswerSource): Promise<Dataset> {
  // What reads files and the hub is loaded for who trains only.
  const { FileDataset, HuggingFaceDataset } = await import("../../../index.ts");
  if ("file" in source) {
    const { file } = source;
    return new (class extends FileDataset {
      override format = answerRow;
    })(file);
  }
  const { repo, config, split } = source;
  const params = {
    repo,
    ...(config === undefined ? {} : { config }),
    ...(split === undefined ? {} : { split }),
  };
  return new (class extends HuggingFaceDataset {
    override format = answerRow;
  })(params);
}

/** @throws SpotterError `dataset_invalid` for a row without a conversation. */
export function answerRow(row: RawRow): FormattedRow {
  const messages = messagesOf(row["messages"] ?? [...asked(row), ...answered(row)]);
  const last = messages.at(-1);
  if (last?.role === "assistant" && isTextAlone(last) && messages.length > 1)
    return { prompt: messages.slice(0, -1), completion: last.content as string };
  if (messages.length > 0) return { prompt: messages };
  throw new SpotterError("dataset_invalid", "the row holds no conversation", {
    hint: "A row has messages, or prompt and completion.",
  });
}

/** Neither parts nor calls of tools, nor reasoning: those stay with their message. */
function isTextAlone({ role: _role, content, ...rest }: Message): boolean {
  return (
    typeof content === "string" && Object.values(rest).every((value) => value === null || value === undefined)
  );
}

function asked({ prompt }: RawRow): unknown[] {
  return typeof prompt === "string" ? [{ role: "user", content: prompt }] : listOf(prompt);
}

function answered({ completion }: RawRow): unknown[] {
  return typeof completion === "string" ? [{ role: "assistant", content: completion }] : listOf(completion);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function messagesOf(value: unknown): Message[] {
  return listOf(value).filter(
    (each): each is Message => typeof each === "object" && each !== null && "role" in each,
  );
}
