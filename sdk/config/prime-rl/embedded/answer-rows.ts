import type { Dataset, FormattedRow } from "../../../dataset.ts";
import { SpotterError } from "../../../schema/errors.ts";

/** Rows to learn from: a file, or a dataset of the hub. */
export type AnswerSource =
  { file: string } | { repo: string; config: string | undefined; split: string | undefined };

type Message = { role: string; content: unknown };
type RawRow = Record<string, unknown>;

/**
 * The dataset of a source whose rows hold conversations: `messages`, or `prompt` and `completion`, each a text or a
 * list of messages. What is learned is the last answer.
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

/** @throws SpotterError `dataset_invalid` for a row without a question and an answer. */
export function answerRow(row: RawRow): FormattedRow {
  const messages = messagesOf(row["messages"] ?? [...asked(row), ...answered(row)]);
  const last = messages.at(-1);
  if (last?.role === "assistant" && typeof last.content === "string" && messages.length > 1)
    return { prompt: messages.slice(0, -1), completion: last.content };
  throw new SpotterError("dataset_invalid", "the row does not end with an answer to something", {
    hint: "A row has messages, the last by the assistant, or prompt and completion.",
  });
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
