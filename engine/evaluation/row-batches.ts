import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";

/** A stored value holds 350 kB; the rest is room for what wraps the rows. */
const MAX_BATCH_BYTES = 250 * 1024;
/** Answers longer than this are cut in the record (rewards saw them whole). */
const MAX_TEXT_CHARACTERS = 50_000;
/** The same of a whole conversation. */
const MAX_TALK_CHARACTERS = 100_000;

/**
 * Rows in batches that each fit a stored value, in order.
 *
 * @throws SpotterError `value_too_large` for a row that fits none.
 */
export function rowBatches(rows: readonly EvalRow[], maxBytes = MAX_BATCH_BYTES): EvalRow[][] {
  const batches: EvalRow[][] = [];
  let bytes = Infinity;
  for (const row of rows.map(withShortText)) {
    const size = Buffer.byteLength(JSON.stringify(row));
    if (size > maxBytes) throw tooLarge(row, size);
    if (bytes + size > maxBytes) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(row);
    bytes += size;
  }
  return batches;
}

/** Texts longer than their share of a conversation are cut, in the record alone. */
function withShortText(row: EvalRow): EvalRow {
  const { text, messages } = row;
  return {
    ...row,
    text: cut(text, MAX_TEXT_CHARACTERS),
    ...(messages !== undefined && { messages: shortMessages(messages) }),
  };
}

type Messages = NonNullable<EvalRow["messages"]>;

function shortMessages(messages: Messages): Messages {
  if (JSON.stringify(messages).length <= MAX_TALK_CHARACTERS) return messages;
  const share = Math.floor(MAX_TALK_CHARACTERS / messages.length / 2);
  return messages.map(({ role, content, reasoning_content: thought }) => ({
    role,
    content: cut(typeof content === "string" ? content : JSON.stringify(content ?? ""), share),
    ...(typeof thought === "string" && { reasoning_content: cut(thought, share) }),
  }));
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)} [cut]` : text;
}

function tooLarge(row: EvalRow, size: number): SpotterError {
  return new SpotterError(
    "value_too_large",
    `Dataset row ${row.row} makes a record of ${Math.round(size / 1024)} kB; ${MAX_BATCH_BYTES / 1024} kB is the most.`,
    { where: `row ${row.row}`, hint: "Keep large values out of the dataset's columns." },
  );
}
