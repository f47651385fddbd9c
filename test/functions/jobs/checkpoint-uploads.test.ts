import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { downloadFile } from "../../../engine/agent/files.ts";
import { uploadCheckpoint } from "../../../engine/agent/checkpoint.ts";
import type { RequestParams, Transport } from "../../../engine/agent/transport.ts";
import { S3Blobs } from "../../../functions/aws/s3-blobs.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import type { JobUpload, TrainJob } from "../../../sdk/schema/job.ts";
import { type TestPlane, testPlane } from "../../fakes/control-plane.ts";
import { type FakeJob, runningRun } from "../../fakes/job.ts";
import { FAKE_AWS, type FakeS3, fakeS3 } from "../../fakes/s3.ts";

vi.setConfig({ testTimeout: 30_000 });
const MIB = 1024 * 1024;
let s3: FakeS3;
let blobs: S3Blobs;

beforeAll(async () => {
  s3 = await fakeS3();
  // Files above 6 MiB go in parts here, not those above 5 GiB.
  blobs = new S3Blobs({ ...s3, ...FAKE_AWS, maxPutBytes: 6 * MIB });
});
beforeEach(() => s3.calm());
afterAll(async () => {
  await blobs.close();
  await s3.close();
});

/** The files of a checkpoint as a container has them: one of each kind of upload. */
function folderOf(files: Record<string, Uint8Array>): string {
  const dir = mkdtempSync(join(tmpdir(), "spotter-checkpoint-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(dir, path, ".."), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

/** What a container has: the token for the control plane, and any other URL without it. */
function transportOf(plane: TestPlane, job: FakeJob): Transport & { foreign: string[]; redirected: number } {
  const foreign: string[] = [];
  const transport = {
    foreign,
    redirected: 0,
    json: (path: string, body: unknown) => plane.json("POST", path, body, job.token),
    async request<T>(
      address: string,
      { method = "GET", body, headers }: RequestParams,
      read: (response: Response) => Promise<T>,
    ): Promise<T> {
      const url = new URL(address, "http://control-plane");
      const content = await body?.();
      const own = url.pathname.startsWith("/jobs/");
      if (!own) foreign.push(`${method} ${url.pathname}`);
      const response = own
        ? await plane.call(method, url.pathname, content, job.token)
        : await fetch(url, { method, headers, body: content });
      if (!response.ok && response.status !== 307)
        throw new Error(`${response.status}: ${await response.text()}`);
      const location = response.headers.get("location");
      if (location === null) return await read(response);
      transport.redirected += 1;
      return await read(await fetch(location));
    },
  };
  return transport;
}

const files = {
  "model/config.json": Buffer.from("{}"),
  "model/w.safetensors": randomBytes(2 * MIB),
  "trainer/optimizer": randomBytes(12 * MIB + 5),
};

describe("a checkpoint where blobs can be reached directly", () => {
  it("goes there past the control plane, large files in parts, and can be read back", async () => {
    const plane = await testPlane({ blobs, onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const transport = transportOf(plane, job);
    const upload = { step: 2, kind: "full" as const, dir: folderOf(files) };
    const checkpoint = await uploadCheckpoint(transport, `/jobs/${job.id}`, 1, upload);
    const prefix = new URL(checkpoint.path).pathname.slice(1);
    const at = (path: string) => `PUT /${s3.bucket}/${prefix}/${path}`;
    expect(transport.foreign.sort()).toEqual([
      at("model/w.safetensors"),
      ...Array<string>(3).fill(at("trainer/optimizer")),
    ]);
    for (const [path, content] of Object.entries(files)) {
      const kept = await blobs.bytes(`${prefix}/${path}`);
      expect(Buffer.from(kept ?? []).equals(content), path).toBe(true);
    }
    expect(await plane.json("GET", `/runs/${id}/checkpoints`)).toMatchObject({ items: [{ step: 2 }] });
    expect(s3.openUploads()).toEqual([]);
    // People read it from there as well.
    const download = await plane.call("GET", `/checkpoints/${id}@2/files/model/w.safetensors`);
    expect(download.status).toBe(307);
    const there = await fetch(download.headers.get("location") ?? "", { headers: { range: "bytes=0-9" } });
    expect(Buffer.from(await there.arrayBuffer())).toEqual(files["model/w.safetensors"].subarray(0, 10));
    expect((await plane.call("GET", `/checkpoints/${id}@2/files/model/config.json`)).status).toBe(200);
  });

  it("is completed once, however often that is asked for", async () => {
    const plane = await testPlane({ blobs, onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const { etags } = await putInParts(await announce(job));
    const complete = { attempt: 1, parts: [{ path: "model/large", etags }] };
    const [one, two] = [
      await job.call("POST", "/checkpoints/1/complete", complete),
      await job.call("POST", "/checkpoints/1/complete", complete),
    ];
    expect(two).toEqual(one);
  });

  it("does not exist while the ETags of its parts are missing or wrong", async () => {
    const plane = await testPlane({ blobs, onEnd: onTestFinished });
    const { id, job } = await runningRun(plane);
    const { etags } = await putInParts(await announce(job));
    const refused = async (body: object) => {
      const answer = await job.answer("POST", "/checkpoints/1/complete", { attempt: 1, ...body });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: "invalid_input" } });
    };
    await refused({});
    await refused({ parts: [{ path: "model/large", etags: etags.toReversed() }] });
    await refused({ parts: [{ path: "model/large", etags: ["", ""] }] });
    expect(await plane.json("GET", `/runs/${id}/checkpoints`)).toEqual({ items: [] });
  });

  it("gives up the parts of an earlier announcement", async () => {
    const plane = await testPlane({ blobs, onEnd: onTestFinished });
    const { job } = await runningRun(plane);
    const before = s3.openUploads();
    await announce(job);
    const [first] = s3.openUploads().filter((each) => !before.includes(each));
    await announce(job);
    expect(s3.openUploads()).not.toContain(first);
    expect(s3.openUploads()).toHaveLength(before.length + 1);
  });

  const large = Buffer.alloc(7 * MIB, 7);
  async function announce(job: FakeJob): Promise<JobUpload> {
    const announced = [{ path: "model/large", size: large.length, sha256: sha256Of(large) }];
    const body = { attempt: 1, step: 1, kind: "full", files: announced };
    const { uploads } = await job.call<{ uploads: [JobUpload] }>("POST", "/checkpoints", body);
    return uploads[0];
  }
  async function putInParts({ parts }: JobUpload): Promise<{ etags: string[] }> {
    const { urls, partBytes } = parts ?? { urls: [], partBytes: 1 };
    const puts = urls.map((url, index) => {
      return fetch(url, { method: "PUT", body: large.subarray(index * partBytes, (index + 1) * partBytes) });
    });
    return { etags: (await Promise.all(puts)).map(({ headers }) => headers.get("etag") ?? "") };
  }
});

it("reads large files of a job from there as well, and small ones from the control plane", async () => {
  const plane = await testPlane({ blobs, onEnd: onTestFinished });
  const { id, job } = await runningRun(plane);
  const upload = { step: 2, kind: "full" as const, dir: folderOf(files) };
  await uploadCheckpoint(transportOf(plane, job), `/jobs/${job.id}`, 1, upload);
  await job.exit("succeeded");
  const startFrom = { checkpoint: `${id}@2`, mode: "continue" as const };
  const { job: next } = await runningRun(plane, { startFrom });
  const { start } = await next.call<TrainJob>("GET", "");
  expect(start?.files.map(({ path }) => path)).toEqual(Object.keys(files));
  const transport = transportOf(plane, next);
  for (const file of start?.files ?? []) {
    const to = join(folderOf({}), "file");
    await downloadFile(transport, file, to);
    expect(readFileSync(to).equals(files[file.path as keyof typeof files]), file.path).toBe(true);
  }
  expect(transport.redirected).toBe(2);
});
