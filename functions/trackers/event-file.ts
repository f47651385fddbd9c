/**
 * The event files that TensorBoard reads: records of TFRecord (length, masked CRC-32C of it, data, masked CRC-32C of
 * the data) which hold messages `tensorflow.Event`.
 *
 * @module
 */
import type { Row } from "./rows.ts";

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C (Castagnoli) of bytes. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A checksum of data that holds checksums itself is rotated and moved, as TFRecord asks. */
function masked(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** What an event file begins with, and how a run is made, as TensorBoard's text. */
export function fileHead(atMs: number, settings: Record<string, string | number | boolean>): Uint8Array {
  const lines = Object.entries(settings).map(([name, value]) => `| ${cell(name)} | ${cell(String(value))} |`);
  const text = ["| setting | value |", "| --- | --- |", ...lines].join("\n");
  return Buffer.concat([
    record(event(atMs, 0, bytesField(3, Buffer.from("brain.Event:2")))),
    record(event(atMs, 0, bytesField(5, bytesField(1, textValue("settings/text_summary", text))))),
  ]);
}

/** The scalars of rows. */
export function rowRecords(rows: readonly Row[]): Uint8Array {
  return Buffer.concat(
    rows.map(({ step, atMs, metrics }) => {
      const values = Object.entries(metrics).map(([tag, value]) => bytesField(1, scalarValue(tag, value)));
      return record(event(atMs, step, bytesField(5, Buffer.concat(values))));
    }),
  );
}

function record(data: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeBigUInt64LE(BigInt(data.length), 0);
  head.writeUInt32LE(masked(head.subarray(0, 8)), 8);
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(masked(data), 0);
  return Buffer.concat([head, data, tail]);
}

/** Event { double wall_time = 1; int64 step = 2; string file_version = 3 | Summary summary = 5 } */
function event(atMs: number, step: number, what: Uint8Array): Uint8Array {
  const time = Buffer.alloc(9);
  time.writeUInt8((1 << 3) | 1, 0);
  time.writeDoubleLE(atMs / 1_000, 1);
  return Buffer.concat([time, varintField(2, step), what]);
}

/** Summary.Value { string tag = 1; float simple_value = 2 } */
function scalarValue(tag: string, value: number): Uint8Array {
  const number = Buffer.alloc(5);
  number.writeUInt8((2 << 3) | 5, 0);
  number.writeFloatLE(value, 1);
  return Buffer.concat([bytesField(1, Buffer.from(tag)), number]);
}

/** Summary.Value { tag = 1; TensorProto tensor = 8; SummaryMetadata metadata = 9 }, of the plugin "text" */
function textValue(tag: string, text: string): Uint8Array {
  const DT_STRING = 7;
  const tensor = Buffer.concat([
    varintField(1, DT_STRING),
    bytesField(2, bytesField(2, varintField(1, 1))),
    bytesField(8, Buffer.from(text)),
  ]);
  const plugin = bytesField(1, bytesField(1, Buffer.from("text")));
  return Buffer.concat([bytesField(1, Buffer.from(tag)), bytesField(8, tensor), bytesField(9, plugin)]);
}

function bytesField(field: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
}

function varintField(field: number, value: number): Uint8Array {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

/** Of a whole number from 0 on. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.from([...bytes, rest]);
}

function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|");
}
