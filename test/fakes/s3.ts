import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { buildApp } from "fauxqs";

/** A request as the fake S3 saw it. */
export interface S3Request {
  method: string;
  /** Path and query, as sent. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
}

/** An error that S3 answers with instead, an answer that is lost after S3 did its work, or one that breaks off. */
export type S3Failure = { status: number; code: string } | "lose the answer" | "break off";

export interface FakeS3 {
  endpoint: string;
  bucket: string;
  requests: S3Request[];
  /** Uploads in parts that were begun and neither completed nor given up. */
  openUploads: () => string[];
  /** Decides how a request fails; undefined lets S3 answer, and so does a promise of it, when it resolves. */
  fail: (decide: (request: S3Request) => S3Failure | undefined | Promise<undefined>) => void;
  /** No more failures, and no requests remembered. */
  calm: () => void;
  close: () => Promise<void>;
}

export const FAKE_AWS = {
  region: "eu-central-1",
  credentials: { accessKeyId: "AKIAFAKE", secretAccessKey: "fake" },
};

/** S3 in memory on 127.0.0.1, with one bucket, and faults on demand. */
export async function fakeS3(bucket = "spotter-test"): Promise<FakeS3> {
  const app = buildApp({ logger: false });
  const requests: S3Request[] = [];
  const open = new Set<string>();
  const failures = new WeakMap<object, "lose the answer" | "break off">();
  let decide: Parameters<FakeS3["fail"]>[0] = () => undefined;

  app.addHook("onRequest", async (request, reply) => {
    const seen = { method: request.method, url: request.url, headers: request.headers };
    requests.push(seen);
    const failure = await decide(seen);
    if (typeof failure === "string") failures.set(request, failure);
    if (typeof failure !== "object") return;
    const { status, code } = failure;
    const body = `<Error><Code>${code}</Code><Message>as asked</Message></Error>`;
    await reply
      .status(status)
      .header("content-type", "application/xml")
      .send(request.method === "HEAD" ? "" : body);
  });
  // As S3 does: what hashes otherwise is not kept.
  app.addHook("preHandler", async (request, reply) => {
    const promised = request.headers["x-amz-checksum-sha256"];
    const { body } = request;
    if (typeof promised !== "string" || !Buffer.isBuffer(body)) return;
    if (createHash("sha256").update(body).digest("base64") === promised) return;
    await reply
      .status(400)
      .send("<Error><Code>BadDigest</Code><Message>It hashes otherwise.</Message></Error>");
  });
  app.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode < 300) takeNote(open, request, payload);
    const failure = failures.get(request);
    if (failure === "lose the answer") request.raw.socket.destroy();
    if (failure === "break off") breakOff(reply.raw);
    return payload;
  });
  const endpoint = await app.listen({ port: 0, host: "127.0.0.1" });
  await fetch(`${endpoint}/${bucket}`, { method: "PUT" });
  return {
    endpoint,
    bucket,
    requests,
    openUploads: () => [...open],
    fail: (next) => {
      decide = next;
    },
    calm: () => {
      decide = () => undefined;
      requests.length = 0;
    },
    close: () => app.close(),
  };
}

function takeNote(open: Set<string>, request: { method: string; url: string }, payload: unknown): void {
  const query = new URL(request.url, "http://s3").searchParams;
  const uploadId = query.get("uploadId");
  if (request.method === "POST" && query.has("uploads")) {
    open.add(/<UploadId>(.*)<\/UploadId>/.exec(String(payload))?.[1] ?? "unknown");
  } else if (uploadId !== null && request.method !== "PUT") open.delete(uploadId);
}

/** Promises the whole body, sends half of it, and hangs up. */
function breakOff(answer: ServerResponse): void {
  answer.end = (body: unknown) => {
    if (Buffer.isBuffer(body)) answer.write(body.subarray(0, body.byteLength / 2));
    // What was written gets its time to arrive.
    setTimeout(() => answer.destroy(), 20);
    return answer;
  };
}
