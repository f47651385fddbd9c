import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

/** Writes a whole body to a new file, through to the disk, and hashes it on the way. */
export async function writeFileHashed(
  path: string,
  body: Uint8Array | ReadableStream<Uint8Array>,
): Promise<{ size: number; sha256: string }> {
  const handle = await open(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      hash.update(chunk);
      await writeAll(handle, chunk);
      size += chunk.byteLength;
    }
    await handle.sync();
    return { size, sha256: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength;) {
    const { bytesWritten } = await handle.write(chunk, offset);
    offset += bytesWritten;
  }
}
