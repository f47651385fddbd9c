import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { S3Blobs } from "../../../functions/aws/s3-blobs.ts";
import { FAKE_AWS, type FakeS3, fakeS3 } from "../../fakes/s3.ts";

// Tens of megabytes are sent, hashed and kept by one process.
vi.setConfig({ testTimeout: 30_000 });

const MIB = 1024 * 1024;
const block = randomBytes(MIB);
let s3: FakeS3;
let blobs: S3Blobs;
let folder = 0;

beforeAll(async () => {
  s3 = await fakeS3();
});
beforeEach(() => {
  s3.calm();
  blobs = new S3Blobs({ ...s3, ...FAKE_AWS, prefix: `test-${++folder}`, maxAttempts: 3 });
  return () => blobs.close();
});
afterAll(() => s3.close());

describe("a large body", () => {
  it("goes in parts of 8 MiB, each with a checksum, and comes back whole", async () => {
    const put = await blobs.put("large", mebibytes(40));
    expect(put).toEqual({ key: "large", size: 40 * MIB, sha256: hashOf(40) });
    const parts = s3.requests.filter(isPart);
    expect(parts.map(({ headers }) => headers["content-length"])).toEqual(Array(5).fill(String(8 * MIB)));
    expect(parts.every(({ headers }) => typeof headers["x-amz-checksum-crc32"] === "string")).toBe(true);
    expect(s3.openUploads()).toEqual([]);
    const hash = createHash("sha256");
    for await (const chunk of (await blobs.get("large")) ?? []) hash.update(chunk);
    expect(hash.digest("hex")).toBe(hashOf(40));
  });

  it("is in memory a few parts at a time, however slow S3 is", async () => {
    let read = 0;
    const body = counted(64, () => (read += MIB));
    const { promise, resolve } = Promise.withResolvers<undefined>();
    s3.fail((request) => (isPart(request) ? promise : undefined));
    const put = blobs.put("slow", body);
    await vi.waitUntil(() => read >= 40 * MIB, { timeout: 20_000 });
    await quiet(() => read);
    // Four on their way, one that waits for its turn, and the byte that shows that it is not the last.
    expect(read).toBeLessThanOrEqual(42 * MIB);
    resolve(undefined);
    expect(await put).toMatchObject({ size: 64 * MIB });
  });

  it("leaves nothing when its source breaks off, and tells the source's reason", async () => {
    const dead = new Error("the line is dead");
    const sent = () => s3.requests.filter(isPart).length > 0;
    await expect(blobs.put("broken", mebibytes(20, dead, sent))).rejects.toThrow("the line is dead");
    expect(await blobs.list("")).toEqual([]);
    expect(s3.openUploads()).toEqual([]);
  });

  it("leaves what was there when it hashes otherwise", async () => {
    await blobs.put("model", Buffer.from("good"));
    const put = blobs.put("model", mebibytes(20), { sha256: "0".repeat(64) });
    await expect(put).rejects.toMatchObject({ code: "blob_corrupt", where: "model" });
    expect(String(await blobs.bytes("model"))).toBe("good");
    expect(s3.openUploads()).toEqual([]);
    expect(await blobs.put("model", mebibytes(20), { sha256: hashOf(20) })).toMatchObject({ size: 20 * MIB });
  });

  it("ends its source and its upload when a part is refused", async () => {
    let cancelled = false;
    s3.fail((request) =>
      isPart(request) && request.url.includes("partNumber=2")
        ? { status: 403, code: "AccessDenied" }
        : undefined,
    );
    const body = counted(
      64,
      () => {},
      () => (cancelled = true),
    );
    await expect(blobs.put("refused", body)).rejects.toMatchObject({
      code: "aws_denied",
      where: `s3://${s3.bucket}`,
      hint: expect.stringContaining("s3:PutObject") as string,
    });
    expect(cancelled).toBe(true);
    expect(s3.openUploads()).toEqual([]);
    expect(await blobs.head("refused")).toBeUndefined();
  });

  it("survives a part that has to be sent again, and the lost answer to its completion", async () => {
    let slowed = false;
    let lost = false;
    s3.fail((request) => {
      if (isPart(request) && !slowed) {
        slowed = true;
        return { status: 503, code: "SlowDown" };
      }
      if (!isCompletion(request) || lost) return undefined;
      lost = true;
      return "lose the answer";
    });
    expect(await blobs.put("again", mebibytes(12))).toMatchObject({ sha256: hashOf(12) });
    expect(s3.requests.filter(isCompletion)).toHaveLength(2);
    expect(await blobs.head("again")).toEqual({ key: "again", size: 12 * MIB });
  });

  it("is one of several whole ones when they are put at the same time", async () => {
    const contents = [1, 2, 3].map((value) => Buffer.alloc(9 * MIB, value));
    await Promise.all(contents.map((content) => blobs.put("same", content)));
    const kept = Buffer.from((await blobs.bytes("same")) ?? []);
    expect(contents.some((content) => content.equals(kept))).toBe(true);
    expect(s3.openUploads()).toEqual([]);
  });

  it("is imported from a file in parts", async () => {
    const home = await mkdtemp(join(tmpdir(), "spotter-s3-"));
    await writeFile(join(home, "weights"), Buffer.concat(Array<Buffer>(17).fill(block)));
    expect(await blobs.import("weights", join(home, "weights"))).toEqual({ key: "weights", size: 17 * MIB });
    await rm(home, { recursive: true });
    expect(s3.requests.filter(isPart)).toHaveLength(3);
    const tail = await blobs.get("weights", { range: [16 * MIB + 5, 17 * MIB + 999] });
    expect(await collect(tail)).toEqual(block.subarray(5));
  });
});

describe("reading", () => {
  it("knows every kind of range", async () => {
    await blobs.put("text", Buffer.from("0123456789"));
    const range = async (start: number, end: number) => {
      return (await collect(await blobs.get("text", { range: [start, end] }))).toString();
    };
    expect(await range(2, 5)).toBe("234");
    expect(await range(7, 100)).toBe("789");
    expect(await range(7, Number.POSITIVE_INFINITY)).toBe("789");
    expect(await range(10, 20)).toBe("");
    expect(await range(4, 4)).toBe("");
    expect(await blobs.get("none", { range: [4, 4] })).toBeUndefined();
    expect(await blobs.get("none", { range: [4, 5] })).toBeUndefined();
    await blobs.put("empty", Buffer.alloc(0));
    expect(await collect(await blobs.get("empty", { range: [0, 5] }))).toHaveLength(0);
  });

  it("goes on where the connection broke", async () => {
    await blobs.put("long", Buffer.concat([block, block]));
    s3.calm();
    let breaks = 0;
    s3.fail((request) => (request.method === "GET" && breaks++ < 2 ? "break off" : undefined));
    expect((await blobs.bytes("long"))?.byteLength).toBe(2 * MIB);
    const reads = s3.requests.filter(({ method }) => method === "GET");
    expect(reads).toHaveLength(3);
    expect(reads[1]?.headers.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it("does not mix two contents when the blob is replaced meanwhile", async () => {
    await blobs.put("k", Buffer.concat([block, block]));
    let broken = false;
    s3.fail((request) => {
      if (request.method !== "GET" || broken) return undefined;
      broken = true;
      return "break off";
    });
    const reader = (await blobs.get("k"))?.getReader();
    await blobs.put("k", Buffer.alloc(3 * MIB));
    const rest = async () => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toMatchObject({ code: "conflict" });
  });
});

it("lists page after page, below its own prefix only", async () => {
  const keys = Array.from({ length: 1500 }, (_, n) => `run/${String(n).padStart(4, "0")}`);
  const pending = [...keys];
  const writer = async () => {
    for (let key = pending.pop(); key !== undefined; key = pending.pop()) await putPlain(key);
  };
  const putPlain = (key: string) =>
    fetch(`${s3.endpoint}/${s3.bucket}/test-${folder}/${key}`, { method: "PUT", body: "x" });
  await fetch(`${s3.endpoint}/${s3.bucket}/run/other`, { method: "PUT", body: "x" });
  await Promise.all(Array.from({ length: 16 }, writer));
  s3.calm();
  const listed = await blobs.list("run/");
  expect(listed.map(({ key }) => key)).toEqual(keys);
  expect(listed.every(({ size }) => size === 1)).toBe(true);
  expect(s3.requests).toHaveLength(2);
});

describe("what AWS refuses", () => {
  const refused = [
    [{ status: 403, code: "AccessDenied" }, "aws_denied"],
    [{ status: 503, code: "SlowDown" }, "aws_throttled"],
    [{ status: 500, code: "InternalError" }, "aws_unreachable"],
  ] as const;
  it.each(refused)("%o has a code for reads, writes and lists", async (failure, code) => {
    blobs = new S3Blobs({ ...s3, ...FAKE_AWS, maxAttempts: 1 });
    s3.fail(() => failure);
    await expect(blobs.get("k")).rejects.toMatchObject({ code });
    await expect(blobs.put("k", block)).rejects.toMatchObject({ code });
    await expect(blobs.list("")).rejects.toMatchObject({ code });
    await expect(blobs.delete("k")).rejects.toMatchObject({ code });
    await blobs.close();
  });

  it("says so where even the status is all there is", async () => {
    s3.fail(() => ({ status: 403, code: "AccessDenied" }));
    await expect(blobs.head("k")).rejects.toMatchObject({
      code: "aws_denied",
      hint: expect.stringContaining("s3:ListBucket") as string,
    });
  });

  it("names a bucket that is not there", async () => {
    const lost = new S3Blobs({ ...s3, ...FAKE_AWS, bucket: "destroyed" });
    const where = { code: "aws_resource_missing", where: "s3://destroyed" };
    await expect(lost.put("k", Buffer.from("x"))).rejects.toMatchObject(where);
    await expect(lost.put("k", mebibytes(9))).rejects.toMatchObject(where);
    await expect(lost.get("k")).rejects.toMatchObject(where);
    await expect(lost.list("")).rejects.toMatchObject(where);
    await lost.close();
  });
});

it("tells people the URL", () => {
  expect(blobs.location("run/1/a")).toBe(`s3://${s3.bucket}/test-${folder}/run/1/a`);
  expect(new S3Blobs({ bucket: "b" }).location("run/")).toBe("s3://b/run");
});

function isPart({ method, url }: { method: string; url: string }): boolean {
  return method === "PUT" && url.includes("partNumber=");
}

function isCompletion({ method, url }: { method: string; url: string }): boolean {
  return method === "POST" && url.includes("uploadId=");
}

/** @param failure thrown at the end, once `when` says so. */
function mebibytes(count: number, failure?: Error, when = () => true): ReadableStream<Uint8Array> {
  return ReadableStream.from(
    (async function* () {
      for (let n = 0; n < count; n++) yield block;
      if (failure === undefined) return;
      await vi.waitUntil(when);
      throw failure;
    })(),
  );
}

function counted(count: number, onRead: () => void, onCancel = () => {}): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream(
    {
      pull(controller) {
        onRead();
        controller.enqueue(block);
        if (--left === 0) controller.close();
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
}

/** Waits until a number has stopped growing. */
async function quiet(read: () => number): Promise<void> {
  for (let before = -1; before !== read();) {
    before = read();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function hashOf(count: number): string {
  const hash = createHash("sha256");
  for (let n = 0; n < count; n++) hash.update(block);
  return hash.digest("hex");
}

async function collect(stream: ReadableStream<Uint8Array> | undefined): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}
