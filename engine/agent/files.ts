import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, openAsBlob } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CheckpointFile } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobFile } from "../../sdk/schema/job.ts";
import { RetryLater } from "./retry.ts";
import type { Transport } from "./transport.ts";

/** Fetches of one file whose content turned out wrong, before the source counts as damaged. */
const DOWNLOAD_ATTEMPTS = 3;

/**
 * Fetches a file and checks size and hash while it streams to disk. The target appears only when it is
 * whole. Throws `blob_corrupt` when the source does not hash to what the job says.
 */
export async function downloadFile(transport: Transport, file: JobFile, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  const partial = `${to}.partial`;
  await transport.request(file.url, {}, async (response) => {
    const hash = createHash("sha256");
    let size = 0;
    const source = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body);
    await pipeline(
      source,
      async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          size += chunk.byteLength;
          yield chunk;
        }
      },
      createWriteStream(partial),
    );
    if (size === file.size && hash.digest("hex") === file.sha256) return;
    await rm(partial, { force: true });
    throw new RetryLater(`${file.path} arrived damaged`, {
      atMost: DOWNLOAD_ATTEMPTS,
      cause: new SpotterError(
        "blob_corrupt",
        `${file.path} does not match its hash (${size} bytes received).`,
        {
          hint: "Upload it again.",
          where: file.path,
        },
      ),
    });
  });
  await rename(partial, to);
}

/** Every file below `dir`, sorted by path, with size and hash. */
export async function listFiles(dir: string): Promise<CheckpointFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(dir.length + 1)
        .replaceAll("\\", "/"),
    )
    .sort();
  return Promise.all(
    paths.map(async (path) => ({
      path,
      size: (await stat(join(dir, path))).size,
      sha256: await hashFile(join(dir, path)),
    })),
  );
}

export interface PutParams {
  headers?: Record<string, string>;
  /** Bytes [start, end) of the file. Default: all. */
  range?: [number, number];
}

/**
 * PUTs a file or a piece of it, and returns the ETag of the answer. The blob knows its size, so stores that refuse
 * chunked bodies are fine as well.
 */
export async function putFile(
  transport: Transport,
  url: string,
  path: string,
  { headers = {}, range }: PutParams = {},
): Promise<string | undefined> {
  const body = async () => {
    const blob = await openAsBlob(path);
    return range === undefined ? blob : blob.slice(...range);
  };
  return await transport.request(url, { method: "PUT", headers, body }, async (response) => {
    await response.arrayBuffer();
    return response.headers.get("etag") ?? undefined;
  });
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
