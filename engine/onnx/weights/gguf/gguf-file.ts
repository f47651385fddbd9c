import type { FileHandle } from "node:fs/promises";
import { SpotterError } from "../../../../sdk/schema/errors.ts";
import { openModelFile } from "../model-file.ts";
import { dequantize } from "./dequantize.ts";
import { ggufCorrupt } from "./errors.ts";
import { parseGgufHeader, type GgufHeader, type GgufTensor } from "./header.ts";
import type { GgufMetadata } from "./metadata.ts";
import { BLOCK_FORMATS } from "./types.ts";

/** The header is looked for in so many bytes at first, then in four times as many. */
const FIRST_BYTES = 2 ** 20;
/** A vocabulary of a million tokens with its merges takes a tenth of it. */
const MAX_HEADER_BYTES = 2 ** 28;
/** Read at once; a tensor never lies in memory twice. */
const CHUNK_BYTES = 2 ** 22;

/**
 * An open GGUF file, version 2 or 3, with tensors by the names in it.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`, naming file and key.
 */
export class GgufFile {
  readonly path: string;
  readonly metadata: GgufMetadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, header: GgufHeader) {
    this.path = path;
    this.metadata = header.metadata;
    this.tensors = header.tensors;
    this.#handle = handle;
  }

  static async open(path: string): Promise<GgufFile> {
    const handle = await openModelFile(path).catch((cause: unknown) => {
      if (SpotterError.is(cause)) throw cause;
      throw new SpotterError("model_not_found", `${path} cannot be read.`, { where: path, cause });
    });
    try {
      return new GgufFile(path, handle, await readHeader(handle, path));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Reads a tensor as float32 into `target`, which must be exactly as large. */
  async readInto(name: string, target: Float32Array): Promise<void> {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw ggufCorrupt(this.path, `has no tensor ${name}`, name);
    const { elements, bytes } = BLOCK_FORMATS[tensor.type];
    const found = (tensor.bytes / bytes) * elements;
    if (found !== target.length) {
      throw ggufCorrupt(
        this.path,
        `: ${name} has ${found} elements, where ${target.length} are expected`,
        name,
      );
    }
    const blocksAtOnce = Math.floor(CHUNK_BYTES / bytes);
    const chunk = new Uint8Array(Math.min(blocksAtOnce * bytes, tensor.bytes));
    for (let done = 0; done < tensor.bytes; done += chunk.length) {
      const part = chunk.subarray(0, Math.min(chunk.length, tensor.bytes - done));
      await fill(this.#handle, this.path, part, tensor.startByte + done);
      const first = (done / bytes) * elements;
      dequantize(tensor.type, part, target.subarray(first, first + (part.length / bytes) * elements));
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function readHeader(handle: FileHandle, path: string): Promise<GgufHeader> {
  const { size } = await handle.stat();
  for (let length = FIRST_BYTES; ; length *= 4) {
    const bytes = Buffer.alloc(Math.min(length, size));
    await fill(handle, path, bytes, 0);
    const header = parseGgufHeader(bytes, size, path);
    if (header !== undefined) return header;
    if (length >= MAX_HEADER_BYTES)
      throw ggufCorrupt(path, `has a header of more than ${MAX_HEADER_BYTES} bytes`);
  }
}

async function fill(handle: FileHandle, path: string, bytes: Uint8Array, from: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, from + done);
    if (bytesRead === 0) throw ggufCorrupt(path, `became shorter while it was read`);
    done += bytesRead;
  }
}
