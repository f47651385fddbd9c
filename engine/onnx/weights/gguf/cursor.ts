import { ggufCorrupt } from "./errors.ts";

/** The bytes at hand end before the header does; the file goes on. */
export class MoreBytesNeeded extends Error {}

/** Reads little-endian values one after the other from the beginning of a file, never beyond its end. */
export class Cursor {
  offset = 0;
  readonly bytes: Buffer;
  readonly #fileBytes: number;
  readonly #path: string;

  /** @param bytes the first bytes of the file at `path`, which has `fileBytes` in all */
  constructor(bytes: Buffer, fileBytes: number, path: string) {
    this.bytes = bytes;
    this.#fileBytes = fileBytes;
    this.#path = path;
  }

  /** Bytes of the file that are still to come. */
  get left(): number {
    return this.#fileBytes - this.offset;
  }

  /** Moves over `count` bytes and tells where they begin. */
  skip(count: number, what: string): number {
    if (count > this.left) {
      throw ggufCorrupt(this.#path, `ends within ${what}: it has ${this.#fileBytes} bytes`, what);
    }
    const start = this.offset;
    if (start + count > this.bytes.length) throw new MoreBytesNeeded();
    this.offset += count;
    return start;
  }

  uint32(what: string): number {
    const start = this.skip(4, what);
    return this.bytes.readUInt32LE(start);
  }

  /** A length or count; what no file could hold becomes larger than any file. */
  uint64(what: string): number {
    const start = this.skip(8, what);
    return Number(this.bytes.readBigUInt64LE(start));
  }

  text(what: string): string {
    const length = this.uint64(`the length of ${what}`);
    const start = this.skip(length, what);
    return this.bytes.toString("utf8", start, start + length);
  }
}
