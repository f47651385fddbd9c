import { mkdirSync, rmSync } from "node:fs";
import { link, open, realpath, rm, rmdir, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { checkBlobPrefix } from "../blobs/blob-key.ts";
import { checkBlobRange } from "../blobs/blob-range.ts";
import { corruptBlob } from "../blobs/corrupt-blob.ts";
import type { BlobInfo, Blobs } from "../ports/blobs.ts";
import { diskError, errorCode } from "./disk-error.ts";
import { arrive, copyDurably } from "./file-blobs/arrive.ts";
import { listFiles } from "./file-blobs/list-files.ts";
import { pathOf } from "./file-blobs/paths.ts";
import { readStream } from "./file-blobs/read-stream.ts";
import { writeFileHashed } from "./file-blobs/write-file.ts";

/**
 * Blobs as plain files: `objects/<key>` below the root, so that people find their checkpoints. A blob is
 * written to `incoming/` and moved when it is whole and on the disk.
 */
export class FileBlobs implements Blobs {
  readonly #root: string;
  readonly #objects: string;
  readonly #incoming: string;

  /** One process at a time uses a root: what an earlier one left half-written is removed. */
  constructor(root: string) {
    this.#root = root;
    this.#objects = join(root, "objects");
    this.#incoming = join(root, "incoming");
    try {
      rmSync(this.#incoming, { recursive: true, force: true });
      mkdirSync(this.#objects, { recursive: true, mode: 0o700 });
      mkdirSync(this.#incoming, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw diskError(error, root);
    }
  }

  async put(
    key: string,
    body: Uint8Array | ReadableStream<Uint8Array>,
    options: { sha256?: string } = {},
  ): Promise<BlobInfo & { sha256: string }> {
    const path = pathOf(this.#objects, key);
    return await arrive(this.#incoming, path, key, async (temporary) => {
      const { size, sha256 } = await writeFileHashed(temporary, body);
      if (options.sha256 !== undefined && options.sha256 !== sha256)
        throw corruptBlob(key, options.sha256, sha256);
      return { key, size, sha256 };
    });
  }

  async get(
    key: string,
    options: { range?: [number, number] } = {},
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const [start, end] = options.range ?? [0, Number.POSITIVE_INFINITY];
    checkBlobRange(start, end);
    const handle = await this.#open(key);
    if (handle === undefined) return undefined;
    const { size } = await handle.stat();
    return readStream(handle, start, Math.min(end, size));
  }

  async bytes(key: string): Promise<Uint8Array | undefined> {
    const handle = await this.#open(key);
    if (handle === undefined) return undefined;
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  async head(key: string): Promise<BlobInfo | undefined> {
    const path = pathOf(this.#objects, key);
    try {
      const found = await stat(path);
      return found.isFile() ? { key, size: found.size } : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw diskError(error, path);
    }
  }

  async list(prefix: string): Promise<BlobInfo[]> {
    checkBlobPrefix(prefix);
    return await listFiles(this.#objects, prefix);
  }

  async delete(key: string): Promise<void> {
    const path = pathOf(this.#objects, key);
    try {
      await rm(path);
    } catch (error) {
      if (isMissing(error) || errorCode(error) === "ERR_FS_EISDIR") return;
      throw diskError(error, path);
    }
    await this.#removeEmpty(dirname(path));
  }

  async import(key: string, path: string): Promise<BlobInfo> {
    const target = pathOf(this.#objects, key);
    const source = await finishedFile(path);
    return await arrive(this.#incoming, target, key, async (temporary) => {
      await link(source, temporary).catch(() => copyDurably(source, temporary));
      return { key, size: (await stat(temporary)).size };
    });
  }

  location(key: string): string {
    return pathOf(this.#objects, key.replace(/\/$/, ""));
  }

  async #open(key: string): Promise<FileHandle | undefined> {
    const path = pathOf(this.#objects, key);
    let handle: FileHandle;
    try {
      handle = await open(path, "r");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw diskError(error, path);
    }
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return undefined;
  }

  /** Folders are only there for the files in them. */
  async #removeEmpty(folder: string): Promise<void> {
    while (folder !== this.#objects && folder.startsWith(this.#root)) {
      try {
        await rmdir(folder);
      } catch {
        return; // Not empty, or removed by a neighbour.
      }
      folder = dirname(folder);
    }
  }
}

async function finishedFile(path: string): Promise<string> {
  try {
    const source = await realpath(path);
    if ((await stat(source)).isFile()) return source;
  } catch (error) {
    if (!isMissing(error)) throw diskError(error, path);
  }
  throw new SpotterError("not_found", `${path} is not a file.`, { where: path });
}

/** ENOTDIR: a shorter key is a file, so there is nothing below it. */
function isMissing(error: unknown): boolean {
  return errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR";
}
