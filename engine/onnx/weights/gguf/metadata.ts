import { Cursor } from "./cursor.ts";
import { ggufCorrupt } from "./errors.ts";

/** Types of metadata values, by their number in a file. */
const VALUE = { BOOL: 7, STRING: 8, ARRAY: 9 } as const;

/** Numbers: how many bytes, and how they are read. */
const NUMBERS: Readonly<Record<number, { bytes: number; read: (bytes: Buffer, at: number) => number }>> = {
  0: { bytes: 1, read: (bytes, at) => bytes.readUInt8(at) },
  1: { bytes: 1, read: (bytes, at) => bytes.readInt8(at) },
  2: { bytes: 2, read: (bytes, at) => bytes.readUInt16LE(at) },
  3: { bytes: 2, read: (bytes, at) => bytes.readInt16LE(at) },
  4: { bytes: 4, read: (bytes, at) => bytes.readUInt32LE(at) },
  5: { bytes: 4, read: (bytes, at) => bytes.readInt32LE(at) },
  6: { bytes: 4, read: (bytes, at) => shortest(bytes.readFloatLE(at)) },
  10: { bytes: 8, read: (bytes, at) => Number(bytes.readBigUInt64LE(at)) },
  11: { bytes: 8, read: (bytes, at) => Number(bytes.readBigInt64LE(at)) },
  12: { bytes: 8, read: (bytes, at) => bytes.readDoubleLE(at) },
};

/** Well above every vocabulary: what is longer is damage, and would take memory for nothing. */
const MAX_ELEMENTS = 2 ** 22;
const MAX_DEPTH = 4;

/** An array as it lies in the header; a vocabulary is only made into texts where somebody asks for it. */
interface LazyArray {
  type: number;
  count: number;
  start: number;
}
type Value = number | boolean | string | LazyArray;

/** The keys and values at the beginning of a GGUF file. */
export class GgufMetadata {
  readonly #path: string;
  readonly #bytes: Buffer;
  readonly #values: ReadonlyMap<string, Value>;

  constructor(path: string, bytes: Buffer, values: ReadonlyMap<string, Value>) {
    this.#path = path;
    this.#bytes = bytes;
    this.#values = values;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  keys(): string[] {
    return [...this.#values.keys()];
  }

  /** @throws SpotterError `model_corrupt`, as the others, where the key holds something else. */
  number(key: string): number | undefined {
    const value = this.#values.get(key);
    if (value === undefined || typeof value === "number") return value;
    throw this.#other(key, "a number");
  }

  text(key: string): string | undefined {
    const value = this.#values.get(key);
    if (value === undefined || typeof value === "string") return value;
    throw this.#other(key, "a text");
  }

  flag(key: string): boolean | undefined {
    const value = this.#values.get(key);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.#other(key, "true or false");
  }

  texts(key: string): string[] | undefined {
    const found = this.#array(key);
    if (found === undefined) return undefined;
    if (found.type !== VALUE.STRING) throw this.#other(key, "a list of texts");
    const cursor = new Cursor(this.#bytes, this.#bytes.length, this.#path);
    cursor.offset = found.start;
    return Array.from({ length: found.count }, () => cursor.text(key));
  }

  numbers(key: string): number[] | undefined {
    const found = this.#array(key);
    if (found === undefined) return undefined;
    const format = NUMBERS[found.type];
    if (format === undefined) throw this.#other(key, "a list of numbers");
    const { start, count } = found;
    return Array.from({ length: count }, (_, index) =>
      format.read(this.#bytes, start + index * format.bytes),
    );
  }

  #array(key: string): LazyArray | undefined {
    const value = this.#values.get(key);
    if (value === undefined || typeof value === "object") return value;
    throw this.#other(key, "a list");
  }

  #other(key: string, wanted: string): Error {
    return ggufCorrupt(this.#path, `: ${key} is not ${wanted}`, key);
  }
}

/** Reads one value, or passes over it where it is a list. */
export function readValue(cursor: Cursor, path: string, key: string): Value {
  const type = cursor.uint32(`the type of ${key}`);
  if (type !== VALUE.ARRAY) return readScalar(cursor, path, key, type);
  return passArray(cursor, path, key, 1);
}

function readScalar(cursor: Cursor, path: string, key: string, type: number): number | boolean | string {
  if (type === VALUE.STRING) return cursor.text(key);
  if (type === VALUE.BOOL) return cursor.bytes[cursor.skip(1, key)] !== 0;
  const format = NUMBERS[type];
  if (format === undefined)
    throw ggufCorrupt(path, `: ${key} is of the type ${type}, which there is not`, key);
  const start = cursor.skip(format.bytes, key);
  return format.read(cursor.bytes, start);
}

function passArray(cursor: Cursor, path: string, key: string, depth: number): LazyArray {
  const type = cursor.uint32(`the type of ${key}`);
  const count = cursor.uint64(`the length of ${key}`);
  if (count > MAX_ELEMENTS) throw ggufCorrupt(path, `: ${key} announces ${count} elements`, key);
  const start = cursor.offset;
  if (type === VALUE.ARRAY) {
    if (depth === MAX_DEPTH) throw ggufCorrupt(path, `: ${key} holds lists in lists in lists in lists`, key);
    for (let index = 0; index < count; index++) passArray(cursor, path, key, depth + 1);
  } else if (type === VALUE.STRING) {
    for (let index = 0; index < count; index++) cursor.skip(cursor.uint64(key), key);
  } else {
    const bytes = type === VALUE.BOOL ? 1 : NUMBERS[type]?.bytes;
    if (bytes === undefined)
      throw ggufCorrupt(path, `: ${key} is a list of the type ${type}, which there is not`, key);
    cursor.skip(count * bytes, key);
  }
  return { type, count, start };
}

/** The fewest digits that are the same float32: 0.00001 and not 0.000009999999747378752. */
function shortest(value: number): number {
  if (!Number.isFinite(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value;
}
