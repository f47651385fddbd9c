import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { StreamEntry } from "../../ports/store.ts";
import { checkPart } from "../../ports/store-keys.ts";
import { encodeValue } from "../../ports/store-values.ts";
import type { Appended } from "./append-queue.ts";
import { decodeText } from "./documents.ts";
import { pagesOf, textOf, type Item, type RangeQuery, type Table } from "./table.ts";

/** A batch without its events. */
interface Batch {
  first: number;
  count: number;
  id: string;
}

const MAX_PARTITION_BYTES = 2048;
const MAX_SORT_BYTES = 1024;
const SEQ_DIGITS = 16;
/** Other processes that append to the same stream at the same time win as often as this one. */
const MAX_TRIES = 200;
const LONGEST_PAUSE_MS = 50;
/** Batches read at a time: often more than are wanted, seldom much more. */
const READ_BATCHES = 32;
const DELETE_AT_ONCE = 25;

/**
 * Adds a batch as one item, under the seq of its first event. Every writer wants the seq that follows the
 * last batch, and DynamoDB lets one of them put it; the others look at what was added and try behind it.
 *
 * A batch with a name first writes down from which seq on it can be. Whoever repeats it finds that note and
 * looks through the batches from there: none is put before all up to its place were seen not to be it.
 */
export async function appendBatch(
  table: Table,
  stream: string,
  events: unknown[],
  batchId: string | undefined,
  known: number | undefined,
): Promise<Appended> {
  checkPart("stream", stream);
  if (batchId !== undefined) checkPart("batchId", batchId);
  const text = encodeValue(events, `stream ${stream}`);
  if (events.length === 0) return appendNothing(table, stream, batchId);
  const next = known ?? (await nextSeq(table, stream));
  // A name for one call: the client may send a put twice, and the second must know the first.
  const id = batchId ?? randomUUID();
  const noted = batchId === undefined ? undefined : await noteName(table, stream, batchId, next);
  const seen = noted === undefined ? { next } : await lookFrom(table, stream, noted, id);
  return putBehind(table, stream, { id, count: events.length, text }, seen);
}

async function putBehind(
  table: Table,
  stream: string,
  batch: { id: string; count: number; text: string },
  seen: Seen,
): Promise<Appended> {
  let { found, next } = seen;
  for (let tries = 1; found === undefined; tries++) {
    const isFirst = await table.putNew({
      pk: { S: streamPartition(stream) },
      sk: { S: batchSort(next) },
      batch: { S: batch.id },
      count: { N: String(batch.count) },
      events: { S: batch.text },
    });
    if (isFirst) return { seq: next + batch.count - 1, next: next + batch.count };
    if (tries === MAX_TRIES) throw tooManyWriters(stream);
    ({ found, next } = await lookFrom(table, stream, next, batch.id));
    if (found === undefined) await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 2 ** tries));
  }
  return { seq: endOf(found), next };
}

export async function readStream(
  table: Table,
  stream: string,
  afterSeq: number,
  limit: number,
): Promise<StreamEntry[]> {
  checkPart("stream", stream);
  if (limit < 1) return [];
  const entries: StreamEntry[] = [];
  const take = (item: Item) => {
    const { first } = batchOf(item);
    const events = decodeText(textOf(item, "events"), `stream ${stream}`) as unknown[];
    for (const [index, value] of events.entries()) {
      const seq = first + index;
      if (seq > afterSeq && entries.length < limit) entries.push({ seq, value });
    }
  };
  const range = batchesFrom(stream, afterSeq + 1);
  for await (const page of pagesOf(table, { ...range, Limit: Math.min(limit, READ_BATCHES) })) {
    const items = page.Items ?? [];
    // Readers mostly ask for what begins a batch; else the beginning of the page is inside of an earlier one.
    if (entries.length === 0 && !(items[0] && batchOf(items[0]).first === afterSeq + 1)) {
      const around = afterSeq > 0 ? await lastBatch(table, stream, afterSeq, true) : undefined;
      if (around !== undefined) take(around);
    }
    for (const item of items) take(item);
    if (entries.length >= limit) break;
  }
  return entries;
}

/** The names go first, then the batches from the last on: what is left at any time is a stream. */
export async function deleteStream(table: Table, stream: string): Promise<void> {
  checkPart("stream", stream);
  const pk = streamPartition(stream);
  for (;;) {
    const { Items: items = [] } = await table.query({
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": { S: pk } },
      ProjectionExpression: "sk",
      Limit: DELETE_AT_ONCE,
      ScanIndexForward: false,
    });
    if (items.length === 0) return;
    await Promise.all(items.map((item) => table.delete({ pk, sk: textOf(item, "sk") })));
  }
}

interface Seen {
  /** The batch that was looked for. */
  found?: Batch;
  /** The seq behind the last batch that was seen. */
  next: number;
}

async function appendNothing(table: Table, stream: string, batchId: string | undefined): Promise<Appended> {
  const next = await nextSeq(table, stream);
  const note = batchId && (await table.get({ pk: streamPartition(stream), sk: nameSort(batchId) }));
  if (!note) return { seq: next - 1, next };
  const { found } = await lookFrom(table, stream, Number(textOf(note, "from")), batchId);
  return { seq: found ? endOf(found) : next - 1, next };
}

/** Undefined if the name is new; else the seq from which on a batch of that name can be. */
async function noteName(
  table: Table,
  stream: string,
  batchId: string,
  next: number,
): Promise<number | undefined> {
  const key = { pk: streamPartition(stream), sk: nameSort(batchId) };
  for (;;) {
    const isNew = await table.putNew({ pk: { S: key.pk }, sk: { S: key.sk }, from: { N: String(next) } });
    // After a lost answer this is the note's second writer, and looks for a batch that is not there yet.
    if (isNew) return undefined;
    const note = await table.get(key);
    if (note !== undefined) return Number(textOf(note, "from"));
  }
}

/** Looks through the batches from a seq on, which must be where one begins or the end of the stream. */
async function lookFrom(table: Table, stream: string, from: number, id: string): Promise<Seen> {
  const seen: Seen = { next: from };
  const query = { ...batchesFrom(stream, from), ...WITHOUT_EVENTS, Limit: READ_BATCHES };
  for await (const page of pagesOf(table, query)) {
    for (const batch of (page.Items ?? []).map(batchOf)) {
      seen.next = endOf(batch) + 1;
      if (batch.id === id) return { ...seen, found: batch };
    }
  }
  return seen;
}

async function nextSeq(table: Table, stream: string): Promise<number> {
  const last = await lastBatch(table, stream, Number.MAX_SAFE_INTEGER, false);
  return last === undefined ? 1 : endOf(batchOf(last)) + 1;
}

/** The last batch that begins at a seq or before. */
async function lastBatch(table: Table, stream: string, seq: number, withEvents: boolean) {
  const { Items: items = [] } = await table.query({
    ...batchesBetween(stream, 0, seq),
    ...(!withEvents && WITHOUT_EVENTS),
    Limit: 1,
    ScanIndexForward: false,
  });
  return items[0];
}

const WITHOUT_EVENTS = {
  ProjectionExpression: "sk, #batch, #count",
  ExpressionAttributeNames: { "#batch": "batch", "#count": "count" },
};

function batchesFrom(stream: string, seq: number): RangeQuery {
  return batchesBetween(stream, seq, Number.MAX_SAFE_INTEGER);
}

function batchesBetween(stream: string, seq: number, lastSeq: number): RangeQuery {
  return {
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to",
    ExpressionAttributeValues: {
      ":pk": { S: streamPartition(stream) },
      ":from": { S: batchSort(seq) },
      ":to": { S: batchSort(lastSeq) },
    },
  };
}

function batchOf(item: Item): Batch {
  const first = Number(textOf(item, "sk").slice(-SEQ_DIGITS));
  return { first, count: Number(textOf(item, "count")), id: textOf(item, "batch") };
}

function endOf({ first, count }: Batch): number {
  return first + count - 1;
}

/** Documents have no NUL in their keys, so no stream is among them. */
function streamPartition(stream: string): string {
  return shortened("\0stream/", stream, MAX_PARTITION_BYTES);
}

function batchSort(seq: number): string {
  return `batch/${String(seq).padStart(SEQ_DIGITS, "0")}`;
}

function nameSort(batchId: string): string {
  return shortened("name/", batchId, MAX_SORT_BYTES);
}

function shortened(prefix: string, text: string, maxBytes: number): string {
  if (Buffer.byteLength(prefix + text) <= maxBytes) return prefix + text;
  return `${prefix}\0${createHash("sha256").update(text).digest("hex")}`;
}

function tooManyWriters(stream: string): SpotterError {
  return new SpotterError("store_conflict", `Others kept adding to the stream ${stream} first.`, {
    where: stream,
    retryable: true,
    hint: "Repeat the append, with the same batch id if it has one.",
  });
}
