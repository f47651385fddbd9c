import { Cursor, MoreBytesNeeded } from "./cursor.ts";
import { ggufCorrupt, ggufUnsupported } from "./errors.ts";
import { GgufMetadata, readValue } from "./metadata.ts";
import { BLOCK_FORMATS, tensorTypeOf, unreadTypeName, type GgufTensorType } from "./types.ts";

/** A tensor of a file. */
export interface GgufTensor {
  type: GgufTensorType;
  /** Slowest first, as in PyTorch; files have it the other way round. */
  shape: number[];
  /** In the file. */
  startByte: number;
  bytes: number;
}

export interface GgufHeader {
  metadata: GgufMetadata;
  tensors: ReadonlyMap<string, GgufTensor>;
}

const MAGIC = "GGUF";
const VERSIONS = [2, 3];
const KEY_ALIGNMENT = "general.alignment";
const DEFAULT_ALIGNMENT = 32;
/** Limits of the format itself, or well above what exists. */
const MAX_KEY_BYTES = 65_535;
const MAX_DIMENSIONS = 4;
const MAX_ELEMENTS = 2 ** 40;
/** No entry takes fewer bytes than this: a larger count cannot be true. */
const MIN_ENTRY_BYTES = 13;

/**
 * Reads what a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) says of itself.
 *
 * @param bytes its first bytes
 * @param fileBytes how many it has in all
 * @returns undefined where the header is longer than `bytes`
 * @throws SpotterError `model_corrupt` or `model_unsupported`, naming the key or tensor.
 */
export function parseGgufHeader(bytes: Buffer, fileBytes: number, path: string): GgufHeader | undefined {
  try {
    return parse(new Cursor(bytes, fileBytes, path), path);
  } catch (error) {
    if (error instanceof MoreBytesNeeded) return undefined;
    throw error;
  }
}

function parse(cursor: Cursor, path: string): GgufHeader {
  checkBeginning(cursor, path);
  const tensorCount = countOf(cursor, path, "tensors");
  const valueCount = countOf(cursor, path, "keys");
  const values = new Map<string, ReturnType<typeof readValue>>();
  for (let index = 0; index < valueCount; index++) {
    const key = readName(cursor, path, `key ${index + 1} of ${valueCount}`);
    if (values.has(key)) throw ggufCorrupt(path, `has ${key} twice`, key);
    values.set(key, readValue(cursor, path, key));
  }
  const metadata = new GgufMetadata(path, cursor.bytes, values);
  const found: [string, Omit<GgufTensor, "startByte"> & { offset: number }][] = [];
  for (let index = 0; index < tensorCount; index++) {
    const name = readName(cursor, path, `tensor ${index + 1} of ${tensorCount}`);
    found.push([name, readTensor(cursor, path, name)]);
  }
  const alignment = alignmentOf(metadata, path);
  const dataStart = Math.ceil(cursor.offset / alignment) * alignment;
  return {
    metadata,
    tensors: placed(found, { path, dataStart, alignment, fileBytes: cursor.offset + cursor.left }),
  };
}

function checkBeginning(cursor: Cursor, path: string): void {
  const start = cursor.skip(MAGIC.length, "the first four letters");
  const magic = cursor.bytes.toString("latin1", start, start + MAGIC.length);
  if (magic !== MAGIC) throw ggufCorrupt(path, "does not begin with GGUF: it is another kind of file");
  const version = cursor.uint32("the version");
  if (VERSIONS.includes(version)) return;
  const swapped = version >= 2 ** 24;
  const what = swapped ? "is written for big-endian machines" : `is of version ${version}`;
  const hint = "Convert the model again with a current llama.cpp, or use its safetensors.";
  throw ggufUnsupported(path, `the file ${what}; versions 2 and 3 are read`, "version", hint);
}

function countOf(cursor: Cursor, path: string, what: string): number {
  const count = cursor.uint64(`the number of ${what}`);
  if (count * MIN_ENTRY_BYTES <= cursor.left) return count;
  throw ggufCorrupt(path, `announces ${count} ${what} and has ${cursor.left} bytes more`, what);
}

function readName(cursor: Cursor, path: string, what: string): string {
  const name = cursor.text(what);
  if (name !== "" && name.length <= MAX_KEY_BYTES) return name;
  throw ggufCorrupt(path, `: the name of ${what} has ${name.length} letters`, what);
}

function readTensor(
  cursor: Cursor,
  path: string,
  name: string,
): Omit<GgufTensor, "startByte"> & { offset: number } {
  const dimensions = cursor.uint32(`the shape of ${name}`);
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
    throw ggufCorrupt(path, `: ${name} has ${dimensions} dimensions`, name);
  }
  const sizes = Array.from({ length: dimensions }, () => cursor.uint64(`the shape of ${name}`));
  const elements = sizes.reduce((a, b) => a * b, 1);
  if (!(elements > 0 && elements <= MAX_ELEMENTS)) {
    throw ggufCorrupt(path, `: ${name} has the shape [${sizes.join(", ")}]`, name);
  }
  const id = cursor.uint32(`the type of ${name}`);
  const type = tensorTypeOf(id);
  if (type === undefined) {
    const hint = `Use a file with tensors of ${Object.keys(BLOCK_FORMATS).join(", ")}.`;
    throw ggufUnsupported(
      path,
      `${name} is of the type ${unreadTypeName(id)}, which is not read`,
      name,
      hint,
    );
  }
  const format = BLOCK_FORMATS[type];
  if ((sizes[0] ?? 0) % format.elements !== 0) {
    throw ggufCorrupt(
      path,
      `: ${name} is ${type}, and its rows of ${sizes[0]} are no multiple of ${format.elements}`,
      name,
    );
  }
  const offset = cursor.uint64(`the place of ${name}`);
  return { type, shape: sizes.reverse(), bytes: (elements / format.elements) * format.bytes, offset };
}

function alignmentOf(metadata: GgufMetadata, path: string): number {
  const alignment = metadata.number(KEY_ALIGNMENT) ?? DEFAULT_ALIGNMENT;
  if (Number.isInteger(alignment) && alignment >= 1 && alignment <= 2 ** 20) return alignment;
  throw ggufCorrupt(path, `: ${KEY_ALIGNMENT} is ${alignment}`, KEY_ALIGNMENT);
}

function placed(
  found: readonly [string, Omit<GgufTensor, "startByte"> & { offset: number }][],
  {
    path,
    dataStart,
    alignment,
    fileBytes,
  }: { path: string; dataStart: number; alignment: number; fileBytes: number },
): Map<string, GgufTensor> {
  const tensors = new Map<string, GgufTensor>();
  for (const [name, { offset, ...tensor }] of found) {
    if (tensors.has(name)) throw ggufCorrupt(path, `has the tensor ${name} twice`, name);
    if (offset % alignment !== 0)
      throw ggufCorrupt(path, `: ${name} does not begin at a multiple of ${alignment}`, name);
    const startByte = dataStart + offset;
    if (startByte + tensor.bytes > fileBytes) {
      throw ggufCorrupt(
        path,
        `ends within ${name}: it has ${fileBytes} bytes, and ${startByte + tensor.bytes} are needed`,
        name,
      );
    }
    tensors.set(name, { ...tensor, startByte });
  }
  return tensors;
}
