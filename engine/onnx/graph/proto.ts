/**
 * A protobuf writer: just enough of the wire format (https://protobuf.dev/programming-guides/encoding/) to
 * write ONNX models.
 *
 * @module
 */

const VARINT = 0;
const BYTES = 2;
const FIXED32 = 5;

const encoder = new TextEncoder();

/** Appends fields of one message; nested messages are written by {@link message} and added as bytes. */
export class ProtoWriter {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  /** A signed or unsigned integer, boolean or enum field. */
  integer(field: number, value: number | bigint): this {
    this.#tag(field, VARINT);
    this.#varint(BigInt.asUintN(64, BigInt(value)));
    return this;
  }

  /** A `float` field. */
  float(field: number, value: number): this {
    this.#tag(field, FIXED32);
    this.#reserve(4);
    this.#length = this.#buffer.writeFloatLE(value, this.#length);
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value));
  }

  bytes(field: number, value: Uint8Array): this {
    this.#tag(field, BYTES);
    this.#varint(BigInt(value.length));
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  /** A nested message. */
  message(field: number, fill: (writer: ProtoWriter) => void): this {
    return this.bytes(field, message(fill));
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#length));
  }

  #tag(field: number, wireType: number): void {
    this.#varint(BigInt((field << 3) | wireType));
  }

  #varint(value: bigint): void {
    this.#reserve(10);
    let rest = value;
    while (rest > 127n) {
      this.#buffer[this.#length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.#buffer[this.#length++] = Number(rest);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** The bytes of one message. */
export function message(fill: (writer: ProtoWriter) => void): Uint8Array {
  const writer = new ProtoWriter();
  fill(writer);
  return writer.finish();
}
