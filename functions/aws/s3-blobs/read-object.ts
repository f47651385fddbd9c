import { Readable } from "node:stream";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { awsError } from "../aws-error.ts";
import type { Bucket } from "./bucket.ts";

/** Times that one read goes on after its connection broke. */
const MAX_RESUMES = 4;
const NEEDS = "s3:GetObject and s3:ListBucket";

interface Opened {
  body: AsyncIterable<Uint8Array>;
  /** Names the content, so that a read that goes on after a break gets the same one. */
  etag: string | undefined;
}

/** Bytes [start, end) of an object; undefined if there is none. What breaks off is asked for again from there. */
export async function readObject(
  bucket: Bucket,
  key: string,
  start: number,
  end: number,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const opened = await openObject(bucket, key, start, end);
  if (opened === undefined) return undefined;
  const reading: Reading = { body: opened.body, cancelled: false };
  const chunks = resumed(bucket, key, [start, end], opened.etag, reading);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        reading.cancelled = true;
        destroy(reading.body);
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

interface Reading {
  body: AsyncIterable<Uint8Array>;
  cancelled: boolean;
}

async function* resumed(
  bucket: Bucket,
  key: string,
  [start, end]: [number, number],
  etag: string | undefined,
  reading: Reading,
): AsyncGenerator<Uint8Array, undefined> {
  let position = start;
  for (let resumes = 0; ; resumes++) {
    try {
      for await (const chunk of reading.body) {
        position += chunk.byteLength;
        yield chunk;
      }
      return undefined;
    } catch (error) {
      if (reading.cancelled) return undefined;
      const broken = readError(bucket, key, error);
      if (broken.code === "blob_corrupt" || etag === undefined || resumes >= MAX_RESUMES) throw broken;
      const again = await openObject(bucket, key, position, end, etag);
      if (again === undefined) throw broken;
      reading.body = again.body;
    }
  }
}

async function openObject(
  bucket: Bucket,
  key: string,
  start: number,
  end: number,
  etag?: string,
): Promise<Opened | undefined> {
  const whole = bucket.keyOf(key);
  const range = start === 0 && end === Number.POSITIVE_INFINITY ? undefined : rangeHeader(start, end);
  const opened = await bucket.call<Opened | "none">(
    { what: `Reading ${bucket.url(key)}`, needs: NEEDS },
    async ({ sdk, client }) => {
      const { Body, ETag } = await client.send(
        new sdk.GetObjectCommand({ Bucket: bucket.name, Key: whole, Range: range, IfMatch: etag }),
      );
      return { body: watched(Body as Readable), etag: ETag };
    },
    (name, status) => {
      if (name === "NoSuchKey") return "none";
      if (status === 412) throw changed(bucket, key);
      // There is nothing at or after `start`.
      return status === 416 ? { body: nothing(), etag: undefined } : undefined;
    },
  );
  return opened === "none" ? undefined : opened;
}

function rangeHeader(start: number, end: number): string {
  return end === Number.POSITIVE_INFINITY ? `bytes=${start}-` : `bytes=${start}-${end - 1}`;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // No bytes.
}

/** A connection that breaks before anybody reads must not end the process; who reads later still hears of it. */
function watched(body: Readable): Readable {
  return body.on("error", () => {});
}

function destroy(body: AsyncIterable<Uint8Array>): void {
  if (body instanceof Readable) body.destroy();
}

function readError(bucket: Bucket, key: string, error: unknown): SpotterError {
  if (error instanceof Error && error.message.startsWith("Checksum mismatch")) {
    return new SpotterError("blob_corrupt", `${key} arrived damaged: ${error.message}`, {
      where: bucket.url(key),
      hint: "Read it again; if that repeats, upload it again.",
      cause: error,
    });
  }
  const call = { what: `Reading ${bucket.url(key)}`, where: bucket.url(key), needs: NEEDS };
  const known = awsError(error, call);
  if (known.code !== "internal") return known;
  return new SpotterError("aws_unreachable", `${call.what} broke off: ${known.message}`, {
    where: call.where,
    retryable: true,
    hint: "Check the network, then read it again.",
    cause: error,
  });
}

function changed(bucket: Bucket, key: string): SpotterError {
  return new SpotterError("conflict", `${key} was replaced while it was read.`, {
    where: bucket.url(key),
    hint: "Read it again from its beginning.",
  });
}
