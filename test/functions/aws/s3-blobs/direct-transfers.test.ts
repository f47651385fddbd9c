import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { S3Blobs } from "../../../../functions/aws/s3-blobs.ts";
import { FAKE_AWS, type FakeS3, fakeS3 } from "../../../fakes/s3.ts";

const MIB = 1024 * 1024;
const head = randomBytes(5 * MIB);
const tail = randomBytes(1000);
let s3: FakeS3;
let blobs: S3Blobs;

beforeAll(async () => {
  s3 = await fakeS3();
  blobs = new S3Blobs({ ...s3, ...FAKE_AWS, prefix: "data" });
});
beforeEach(() => s3.calm());
afterAll(async () => {
  await blobs.close();
  await s3.close();
});

async function putPart(key: string, uploadId: string, partNumber: number, body: Uint8Array<ArrayBuffer>) {
  const url = await blobs.direct.presignPart(key, uploadId, partNumber, 60);
  const { status, headers } = await fetch(url, { method: "PUT", body });
  expect(status).toBe(200);
  return { partNumber, etag: headers.get("etag") ?? "" };
}

it("takes parts by URL alone, and shows the blob when they are complete", async () => {
  const uploadId = await blobs.direct.createUpload("up");
  // As several containers or connections would: not in order.
  const second = await putPart("up", uploadId, 2, tail);
  const first = await putPart("up", uploadId, 1, head);
  expect(await blobs.head("up")).toBeUndefined();
  const info = { key: "up", size: head.length + tail.length };
  expect(await blobs.direct.completeUpload("up", uploadId, [first, second])).toEqual(info);
  expect(Buffer.from((await blobs.bytes("up")) ?? []).equals(Buffer.concat([head, tail]))).toBe(true);
  expect(s3.openUploads()).toEqual([]);
  // The answer was lost, so the container asks again.
  expect(await blobs.direct.completeUpload("up", uploadId, [first, second])).toEqual(info);
});

it("signs what S3 can keep: no checksum of a body that is not known yet", async () => {
  const url = new URL(await blobs.direct.presignPart("k", "upload", 3, 600));
  expect(url.pathname).toBe(`/${s3.bucket}/data/k`);
  expect(url.searchParams.get("X-Amz-Expires")).toBe("600");
  expect([...url.searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([]);
  expect(url.searchParams.get("X-Amz-SignedHeaders")).toBe("host");
});

it("takes a whole file by URL, if it hashes as announced and says so", async () => {
  const sha256 = createHash("sha256").update(tail).digest("hex");
  const { url, headers } = await blobs.direct.presignPut("whole", sha256, 60);
  expect(new URL(url).searchParams.get("X-Amz-SignedHeaders")).toContain("x-amz-checksum-sha256");
  const other = await fetch(url, { method: "PUT", headers, body: head.subarray(0, 1000) });
  expect(other.status).toBe(400);
  expect(await blobs.head("whole")).toBeUndefined();
  expect((await fetch(url, { method: "PUT", headers, body: tail })).status).toBe(200);
  expect(Buffer.from((await blobs.bytes("whole")) ?? []).equals(tail)).toBe(true);
});

it("gives a blob by URL, in ranges too", async () => {
  await blobs.put("down", tail);
  const url = await blobs.direct.presignGet("down", 60);
  expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(tail)).toBe(true);
  const part = await fetch(url, { headers: { range: "bytes=-10" } });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer()).equals(tail.subarray(-10))).toBe(true);
  expect((await fetch(await blobs.direct.presignGet("none", 60))).status).toBe(404);
});

it("forgets an upload that is given up", async () => {
  const uploadId = await blobs.direct.createUpload("never");
  const part = await putPart("never", uploadId, 1, tail);
  await blobs.direct.abortUpload("never", uploadId);
  await blobs.direct.abortUpload("never", uploadId);
  expect(s3.openUploads()).toEqual([]);
  await expect(blobs.direct.completeUpload("never", uploadId, [part])).rejects.toMatchObject({
    code: "not_found",
    where: "never",
  });
  expect(await blobs.head("never")).toBeUndefined();
});

it("refuses parts that make no blob", async () => {
  const uploadId = await blobs.direct.createUpload("odd");
  const small = await putPart("odd", uploadId, 1, tail);
  const other = await putPart("odd", uploadId, 2, tail);
  const complete = (parts: (typeof small)[]) => blobs.direct.completeUpload("odd", uploadId, parts);
  const refused = { code: "invalid_input", where: "odd" };
  await expect(complete([{ ...small, etag: '"0123"' }])).rejects.toMatchObject(refused);
  await expect(complete([small, other])).rejects.toMatchObject(refused);
  await expect(complete([other, small])).rejects.toMatchObject(refused);
  await expect(complete([{ partNumber: 0, etag: "x" }])).rejects.toMatchObject({ code: "invalid_input" });
  await blobs.direct.abortUpload("odd", uploadId);
});

it("signs no URL that S3 would refuse", async () => {
  const refused = { code: "invalid_input" };
  await expect(blobs.direct.presignGet("k", 0)).rejects.toMatchObject(refused);
  await expect(blobs.direct.presignGet("k", 604_801)).rejects.toMatchObject(refused);
  await expect(blobs.direct.presignGet("../k", 60)).rejects.toMatchObject(refused);
  await expect(blobs.direct.presignPart("k", "u", 10_001, 60)).rejects.toMatchObject(refused);
  await expect(blobs.direct.createUpload("/k")).rejects.toMatchObject(refused);
});
