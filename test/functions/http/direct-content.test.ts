import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { S3Blobs } from "../../../functions/aws/s3-blobs.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { putDirect } from "../../../sdk/direct-upload.ts";
import type { AnnounceDatasetReply } from "../../../sdk/schema/dataset.ts";
import type { PushModelReply } from "../../../sdk/schema/model.ts";
import { type TestPlane, testPlane } from "../../fakes/control-plane.ts";
import { FAKE_AWS, type FakeS3, fakeS3 } from "../../fakes/s3.ts";

vi.setConfig({ testTimeout: 30_000 });
let s3: FakeS3;
let blobs: S3Blobs;

beforeAll(async () => {
  s3 = await fakeS3();
  blobs = new S3Blobs({ ...s3, ...FAKE_AWS });
});
beforeEach(() => s3.calm());
afterAll(async () => {
  await blobs.close();
  await s3.close();
});

const once = { timeoutMs: 10_000, maxAttempts: 1 };

it("weights go to S3 by the URL of their hash, small files through the server", async () => {
  const plane = await testPlane({ blobs, onEnd: onTestFinished });
  const weights = randomBytes(2_000_000);
  const files = [
    { path: "config.json", size: 2, sha256: sha256Of("{}") },
    { path: "model.safetensors", size: weights.length, sha256: sha256Of(weights) },
    { path: "tokenizer.json", size: 2, sha256: sha256Of("{}") },
  ];
  const announce = () => plane.json<PushModelReply>("POST", "/models", { name: "acme/large", files });
  const { sha256, missing, uploads = {} } = await announce();
  expect(missing).toEqual(["config.json", "model.safetensors", "tokenizer.json"]);
  expect(Object.keys(uploads)).toEqual(["model.safetensors"]);
  const [upload] = Object.values(uploads);
  if (upload === undefined) throw new Error("no upload");
  const other = putDirect(upload, randomBytes(2_000_000), once);
  await expect(other).rejects.toMatchObject({ code: "invalid_input" });
  await putDirect(upload, weights, once);
  for (const path of ["config.json", "tokenizer.json"])
    expect((await plane.call("PUT", `/models/${sha256}/files/${path}`, "{}")).status).toBe(204);
  expect(await announce()).toMatchObject({ missing: [], model: { name: "acme/large" } });
  const read = await plane.call("GET", `/models/${sha256}/files/model.safetensors`);
  expect(read.status).toBe(307);
});

async function announceRows(plane: TestPlane, rows: Buffer): Promise<AnnounceDatasetReply> {
  return await plane.json("POST", `/datasets/${sha256Of(rows)}`, { bytes: rows.length, name: "many" });
}

function jsonl(line: string): Buffer {
  return Buffer.from(`${line}\n`.repeat(Math.ceil(1_100_000 / line.length)));
}

it("rows go to S3 by the URL of their hash, and count when the server has read them over", async () => {
  const plane = await testPlane({ blobs, onEnd: onTestFinished });
  const rows = jsonl(JSON.stringify({ prompt: [{ role: "user", content: "x".repeat(200) }], row: {} }));
  const { upload, dataset } = await announceRows(plane, rows);
  if (upload === undefined) throw new Error("no upload");
  expect(dataset).toBeUndefined();
  await putDirect(upload, rows, once);
  expect((await plane.call("GET", `/datasets/${sha256Of(rows)}`)).status).toBe(404);
  const done = await announceRows(plane, rows);
  const lines = rows.toString().split("\n").length - 1;
  expect(done.dataset).toMatchObject({ name: "many", rows: lines, bytes: rows.length });
  expect(await plane.json("GET", `/datasets/${sha256Of(rows)}`)).toEqual(done.dataset);
  expect(await announceRows(plane, rows)).toEqual(done);
});

it("rows that are none are refused and not kept", async () => {
  const plane = await testPlane({ blobs, onEnd: onTestFinished });
  const rows = jsonl('{"prompt": "not a list of messages, but a text that goes on for a while"}');
  const { upload } = await announceRows(plane, rows);
  if (upload === undefined) throw new Error("no upload");
  await putDirect(upload, rows, once);
  await expect(announceRows(plane, rows)).rejects.toThrow();
  expect(await blobs.list("datasets/")).not.toContainEqual(
    expect.objectContaining({ key: `datasets/${sha256Of(rows)}.jsonl` }),
  );
  expect((await announceRows(plane, rows)).upload).toBeDefined();
});

it("on one machine everything goes through the server", async () => {
  const plane = await testPlane({ onEnd: onTestFinished });
  expect(await announceRows(plane, jsonl("{}"))).toEqual({});
});

it("an upload that S3 cannot take now is sent again, with its whole body", async () => {
  const folder = mkdtempSync(join(tmpdir(), "spotter-upload-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const content = randomBytes(1000);
  writeFileSync(join(folder, "file"), content);
  const { openAsBlob } = await import("node:fs");
  const upload = await blobs.direct.presignPut("again", sha256Of(content), 60);
  let failures = 2;
  s3.fail(() => (failures-- > 0 ? { status: 503, code: "SlowDown" } : undefined));
  const body = await openAsBlob(join(folder, "file"));
  await putDirect(upload, body, { timeoutMs: 10_000, retryDelayMs: 1 });
  expect(Buffer.from((await blobs.bytes("again")) ?? []).equals(content)).toBe(true);
});
