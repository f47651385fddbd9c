import { open, type FileHandle } from "node:fs/promises";
import { quantize, type WrittenType } from "./quantize.ts";
import { BLOCK_FORMATS } from "./types.ts";

/** A value of the metadata, in the type the format's own documentation names for the key. */
export type GgufValue =
  | { type: "uint32" | "float32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "int32s"; value: readonly number[] };

/** A tensor to write; its numbers are asked for when their turn comes. */
export interface GgufTensorSource {
  name: string;
  /** Slowest first. */
  shape: readonly number[];
  type: WrittenType;
  read: () => Promise<Float32Array>;
}

const ALIGNMENT = 32;
const VERSION = 3;
const TYPE_ID = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;

/** Writes a GGUF file of version 3; one tensor is in memory at a time. */
export async function writeGguf(
  path: string,
  metadata: ReadonlyMap<string, GgufValue>,
  tensors: readonly GgufTensorSource[],
): Promise<void> {
  const handle = await open(path, "wx");
  try {
    await writePadded(handle, header(metadata, tensors));
    for (const { type, read } of tensors) await writePadded(handle, quantize(type, await read()));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function header(metadata: ReadonlyMap<string, GgufValue>, tensors: readonly GgufTensorSource[]): Buffer {
  const parts = [Buffer.from("GGUF"), uint32(VERSION), uint64(tensors.length), uint64(metadata.size)];
  for (const [key, value] of metadata) parts.push(string(key), ...encoded(value));
  let offset = 0;
  for (const { name, shape, type } of tensors) {
    parts.push(string(name), uint32(shape.length), ...[...shape].reverse().map(uint64));
    parts.push(uint32(BLOCK_FORMATS[type].id), uint64(offset));
    offset += padded(bytesOf(shape, type));
  }
  return Buffer.concat(parts);
}

function encoded(value: GgufValue): Buffer[] {
  switch (value.type) {
    case "uint32":
      return [uint32(TYPE_ID.uint32), uint32(value.value)];
    case "float32":
      return [uint32(TYPE_ID.float32), float32(value.value)];
    case "bool":
      return [uint32(TYPE_ID.bool), Buffer.of(value.value ? 1 : 0)];
    case "string":
      return [uint32(TYPE_ID.string), string(value.value)];
    case "strings":
      return [...list(TYPE_ID.string, value.value.length), ...value.value.map(string)];
    case "int32s":
      return [...list(TYPE_ID.int32, value.value.length), ...value.value.map(int32)];
  }
}

function list(element: number, length: number): Buffer[] {
  return [uint32(TYPE_ID.array), uint32(element), uint64(length)];
}

function bytesOf(shape: readonly number[], type: WrittenType): number {
  const { elements, bytes } = BLOCK_FORMATS[type];
  return (shape.reduce((a, b) => a * b, 1) / elements) * bytes;
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

async function writePadded(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  await handle.writeFile(bytes);
  await handle.writeFile(Buffer.alloc(padded(bytes.length) - bytes.length));
}
