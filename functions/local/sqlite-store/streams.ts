import type { StreamEntry } from "../../ports/store.ts";
import { checkPart } from "../../ports/store-keys.ts";
import { encodeValue } from "../../ports/store-values.ts";
import type { Connection } from "./connection.ts";
import { checksumOf, decodeValue } from "./values.ts";

/** A batch is one row, kept under the seq of its last event: the seq of the first follows from its length. */
export function appendBatch(
  connection: Connection,
  stream: string,
  events: unknown[],
  batchId: string | undefined,
): number {
  checkPart("stream", stream);
  if (batchId !== undefined) checkPart("batchId", batchId);
  const text = encodeValue(events, `stream ${stream}`);
  return connection.transaction(() => {
    if (batchId !== undefined) {
      const same = connection.get(
        "SELECT last_seq FROM batches WHERE stream = ? AND batch_id = ?",
        stream,
        batchId,
      );
      if (same !== undefined) return Number(same["last_seq"]);
    }
    const last = lastSeq(connection, stream);
    if (events.length === 0) return last;
    const seq = last + events.length;
    connection.run(
      "INSERT INTO batches (stream, last_seq, batch_id, events, crc) VALUES (?, ?, ?, ?, ?)",
      stream,
      seq,
      batchId ?? null,
      text,
      checksumOf(text),
    );
    return seq;
  });
}

export function readStream(
  connection: Connection,
  stream: string,
  afterSeq: number,
  limit: number,
): StreamEntry[] {
  checkPart("stream", stream);
  const entries: StreamEntry[] = [];
  while (entries.length < limit) {
    const position = entries.at(-1)?.seq ?? afterSeq;
    const batch = connection.get(
      "SELECT last_seq, events, crc FROM batches WHERE stream = ? AND last_seq > ? ORDER BY last_seq LIMIT 1",
      stream,
      position,
    );
    if (batch === undefined) break;
    const events = decodeValue(batch["events"], batch["crc"], `stream ${stream}`) as unknown[];
    const before = Number(batch["last_seq"]) - events.length;
    for (const [index, value] of events.entries()) {
      const seq = before + index + 1;
      if (seq > position && entries.length < limit) entries.push({ seq, value });
    }
  }
  return entries;
}

export function deleteStream(connection: Connection, stream: string): void {
  checkPart("stream", stream);
  connection.transaction(() => connection.run("DELETE FROM batches WHERE stream = ?", stream));
}

function lastSeq(connection: Connection, stream: string): number {
  const row = connection.get("SELECT max(last_seq) AS seq FROM batches WHERE stream = ?", stream);
  return Number(row?.["seq"] ?? 0);
}
