import { Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { invalidRow } from "../dataset-rows.ts";
import type { FileFormat } from "./file-format.ts";

/** The bytes of a file as its readers want them. */
export async function* decompressed(
  bytes: AsyncIterable<Uint8Array>,
  compression: FileFormat["compression"],
  name: string,
): AsyncIterable<Uint8Array> {
  if (compression === undefined) {
    yield* bytes;
    return;
  }
  const source = Readable.from(bytes);
  const unpack = compression === "gzip" ? createGunzip() : createZstdDecompress();
  source.once("error", (error) => unpack.destroy(error));
  try {
    for await (const chunk of source.pipe(unpack)) yield chunk as Uint8Array;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || !/^(Z_|ZSTD_|ERR_ZSTD)/.test(code)) throw error;
    throw invalidRow(name, `the ${compression} data is damaged (${code})`, error);
  } finally {
    source.destroy();
    unpack.destroy();
  }
}
