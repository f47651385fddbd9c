/**
 * The safetensors file format (https://github.com/huggingface/safetensors): eight bytes with the length of a
 * JSON header, the header, then the tensors' bytes.
 *
 * @module
 */
import { open, type FileHandle } from "node:fs/promises";
import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { openModelFile } from "./model-file.ts";
import type { WeightsFile } from "./weights-file.ts";
import { ELEMENT_BYTES, decodeElements, encodeElements, type ElementType } from "./elements.ts";

export interface TensorEntry {
  type: ElementType;
  shape: number[];
  /** Byte range behind the header. */
  start: number;
  end: number;
}

/** A tensor to write. */
export interface NamedTensor {
  name: string;
  shape: readonly number[];
  data: Float32Array;
}

const HEADER_LENGTH_BYTES = 8;
const MAX_HEADER_BYTES = 100 * 1024 * 1024;

const count = z.int().check(z.nonnegative());
const headerEntry = z.object({
  dtype: z.string(),
  shape: z.array(count),
  data_offsets: z.tuple([count, count]),
});
const headerSchema = z.record(z.string(), z.unknown());

/**
 * An open file; tensors are read one at a time, so that a model never lies in memory twice.
 *
 * @throws SpotterError `model_corrupt` where the file is truncated or no safetensors file.
 */
export class SafetensorsFile implements WeightsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #handle: FileHandle;
  readonly #dataStart: number;

  private constructor(path: string, handle: FileHandle, header: Header, dataStart: number) {
    this.path = path;
    this.tensors = header.tensors;
    this.metadata = header.metadata;
    this.#handle = handle;
    this.#dataStart = dataStart;
  }

  static async open(path: string): Promise<SafetensorsFile> {
    const handle = await openModelFile(path).catch((cause: unknown) => {
      if (SpotterError.is(cause)) throw cause;
      throw new SpotterError("model_not_found", `${path} cannot be read.`, { where: path, cause });
    });
    try {
      const { size } = await handle.stat();
      const length = await readHeaderLength(handle, path, size);
      const bytes = await readExactly(handle, path, HEADER_LENGTH_BYTES, length);
      const dataStart = HEADER_LENGTH_BYTES + length;
      return new SafetensorsFile(path, handle, parseHeader(bytes, path, size - dataStart), dataStart);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Reads a tensor as float32 into `target`, which must be exactly as large. */
  async readInto(name: string, target: Float32Array): Promise<void> {
    const entry = this.tensors.get(name);
    if (entry === undefined) throw corrupt(this.path, `has no tensor ${name}`);
    const elements = entry.shape.reduce((a, b) => a * b, 1);
    if (elements !== target.length) {
      throw corrupt(
        this.path,
        `${name} is [${entry.shape.join()}], where ${target.length} elements are expected`,
      );
    }
    if (entry.type === "F32") {
      const bytes = Buffer.from(target.buffer, target.byteOffset, target.byteLength);
      await readInto(this.#handle, this.path, this.#dataStart + entry.start, bytes);
      return;
    }
    const bytes = await readExactly(
      this.#handle,
      this.path,
      this.#dataStart + entry.start,
      entry.end - entry.start,
    );
    decodeElements(entry.type, bytes, target);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/**
 * Writes a file; `type` F32 keeps every bit, BF16 and F16 halve the size (rounding to nearest even).
 *
 * @param metadata string pairs for the header; Transformers wants `{ format: "pt" }`.
 */
export async function writeSafetensors(
  path: string,
  tensors: readonly NamedTensor[],
  type: ElementType = "F32",
  metadata: Record<string, string> = { format: "pt" },
): Promise<void> {
  const sources = tensors.map(({ name, shape, data }) => ({
    name,
    shape,
    read: () => Promise.resolve(data),
  }));
  await writeSafetensorsOf(path, sources, type, metadata);
}

/** As {@link writeSafetensors}, with tensors that are read when their turn comes. */
export async function writeSafetensorsOf(
  path: string,
  tensors: readonly { name: string; shape: readonly number[]; read: () => Promise<Float32Array> }[],
  type: ElementType,
  metadata: Record<string, string> = { format: "pt" },
): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  for (const { name, shape } of tensors) {
    const start = end;
    end += shape.reduce((a, b) => a * b, 1) * ELEMENT_BYTES[type];
    header[name] = { dtype: type, shape, data_offsets: [start, end] };
  }
  const json = Buffer.from(JSON.stringify(header));
  // Padded with spaces to eight bytes, so that tensors are aligned when the file is mapped.
  const padded = Buffer.alloc(Math.ceil(json.length / 8) * 8, " ");
  json.copy(padded);
  const length = Buffer.alloc(HEADER_LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(padded.length));
  const handle = await open(path, "w");
  try {
    await handle.writeFile(length);
    await handle.writeFile(padded);
    for (const { read } of tensors) await handle.writeFile(encodeElements(type, await read()));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface Header {
  tensors: Map<string, TensorEntry>;
  metadata: Record<string, string>;
}

async function readHeaderLength(handle: FileHandle, path: string, size: number): Promise<number> {
  if (size < HEADER_LENGTH_BYTES) throw corrupt(path, `has only ${size} bytes`);
  const length = (await readExactly(handle, path, 0, HEADER_LENGTH_BYTES)).readBigUInt64LE();
  if (length > MAX_HEADER_BYTES || length + BigInt(HEADER_LENGTH_BYTES) > size) {
    throw corrupt(
      path,
      `announces a header of ${length} bytes in a file of ${size}: truncated or another format`,
    );
  }
  return Number(length);
}

function parseHeader(bytes: Buffer, path: string, dataBytes: number): Header {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw corrupt(path, "has no JSON header", cause);
  }
  const entries = z.safeParse(headerSchema, json);
  if (!entries.success) throw corrupt(path, "has a header that is no object");
  const header: Header = { tensors: new Map(), metadata: {} };
  for (const [name, value] of Object.entries(entries.data)) {
    if (name === "__metadata__") {
      const metadata = z.safeParse(z.record(z.string(), z.string()), value);
      if (metadata.success) header.metadata = metadata.data;
      continue;
    }
    header.tensors.set(name, parseEntry(name, value, path, dataBytes));
  }
  return header;
}

function parseEntry(name: string, value: unknown, path: string, dataBytes: number): TensorEntry {
  const parsed = z.safeParse(headerEntry, value);
  if (!parsed.success) throw corrupt(path, `${name} has no valid header entry`);
  const { dtype, shape } = parsed.data;
  const [start, end] = parsed.data.data_offsets;
  if (!Object.hasOwn(ELEMENT_BYTES, dtype)) {
    throw new SpotterError("model_unsupported", `${path}: ${name} is of type ${dtype}.`, {
      where: `${path}: ${name}`,
      hint: "The embedded engine reads F32, F16 and BF16 weights.",
    });
  }
  const type = dtype as ElementType;
  const bytes = shape.reduce((a, b) => a * b, 1) * ELEMENT_BYTES[type];
  if (end - start !== bytes || end > dataBytes) {
    throw corrupt(path, `${name} [${shape.join()}] does not fit its ${end - start} bytes: truncated`);
  }
  return { type, shape, start, end };
}

async function readExactly(
  handle: FileHandle,
  path: string,
  position: number,
  length: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  await readInto(handle, path, position, buffer);
  return buffer;
}

async function readInto(handle: FileHandle, path: string, position: number, target: Buffer): Promise<void> {
  let done = 0;
  while (done < target.length) {
    // One read may stop at 2 GiB, and at the end of a file that shrank.
    const { bytesRead } = await handle.read(
      target,
      done,
      Math.min(target.length - done, 1 << 30),
      position + done,
    );
    if (bytesRead === 0) throw corrupt(path, `ends ${target.length - done} bytes early`);
    done += bytesRead;
  }
}

function corrupt(path: string, what: string, cause?: unknown): SpotterError {
  return new SpotterError("model_corrupt", `${path} ${what}.`, {
    where: path,
    hint: "Download or export the weights again.",
    cause,
  });
}
