import { createHash } from "node:crypto";
import { openAsBlob, rmSync } from "node:fs";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpotterError } from "../schema/errors.ts";
import type { DatasetRow } from "../schema/dataset.ts";

/** Rows as JSONL, ready to be sent, and sent again. */
export interface SpooledRows {
  sha256: string;
  rows: number;
  /** In memory, or a file that is read as it is sent. */
  bytes: Uint8Array | Blob;
  /** Removes the file, if there is one. */
  close(): Promise<void>;
}

/** More than this goes into a file. */
const IN_MEMORY_BYTES = 8 * 1024 * 1024;
const WRITE_BYTES = 1024 * 1024;

/** Writes rows down and hashes them as they come: of many, only a few are in memory at a time. */
export async function spoolRows(rows: AsyncIterable<DatasetRow>): Promise<SpooledRows> {
  const hash = createHash("sha256");
  let pieces: Buffer[] = [];
  let size = 0;
  let count = 0;
  let file: SpoolFile | undefined;
  try {
    for await (const row of rows) {
      const line = Buffer.from(`${JSON.stringify(row)}\n`);
      hash.update(line);
      pieces.push(line);
      size += line.byteLength;
      count++;
      if (size < (file === undefined ? IN_MEMORY_BYTES : WRITE_BYTES)) continue;
      file ??= await openSpoolFile();
      await file.write(pieces);
      pieces = [];
      size = 0;
    }
    const sha256 = hash.digest("hex");
    if (file === undefined)
      return { sha256, rows: count, bytes: Buffer.concat(pieces), close: () => Promise.resolve() };
    await file.write(pieces);
    const written = file;
    return { sha256, rows: count, bytes: await written.finish(), close: () => written.remove() };
  } catch (error) {
    await file?.remove();
    throw error;
  }
}

interface SpoolFile {
  write(pieces: Buffer[]): Promise<void>;
  finish(): Promise<Blob>;
  remove(): Promise<void>;
}

async function openSpoolFile(): Promise<SpoolFile> {
  const folder = await mkdtemp(join(tmpdir(), "spotter-rows-")).catch((error: unknown) => {
    throw unwritable(tmpdir(), error);
  });
  // Whoever ends the process in between gets no other turn to tidy up.
  const removeNow = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeNow);
  const path = join(folder, "rows.jsonl");
  let handle: FileHandle | undefined;
  return {
    async write(pieces) {
      try {
        handle ??= await open(path, "wx", 0o600);
        await handle.writev(pieces);
      } catch (error) {
        throw unwritable(path, error);
      }
    },
    async finish() {
      await handle?.close();
      handle = undefined;
      return openAsBlob(path);
    },
    async remove() {
      await handle?.close();
      handle = undefined;
      process.removeListener("exit", removeNow);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function unwritable(path: string, cause: unknown): SpotterError {
  const code = (cause as { code?: string }).code ?? String(cause);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  return new SpotterError(isFull ? "disk_full" : "invalid_input", `Cannot write rows to ${path}: ${code}.`, {
    where: path,
    hint: "Make room there, or point TMPDIR at another disk.",
    cause,
  });
}
