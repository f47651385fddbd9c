/** One message of an event file, as a reader of its own finds it. */
export interface ReadEvent {
  wallTime: number;
  step: number;
  version?: string;
  scalars: Record<string, number>;
  texts: Record<string, string>;
}

type Field = { field: number; number: number; bytes: Buffer };

/** Reads TFRecords and the fields of protobuf by the formats' own rules, and shares nothing with the writer. */
export function readEventFile(file: Buffer): ReadEvent[] {
  const events: ReadEvent[] = [];
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at));
    check(file.subarray(at, at + 8), file.readUInt32LE(at + 8));
    const data = file.subarray(at + 12, at + 12 + length);
    check(data, file.readUInt32LE(at + 12 + length));
    events.push(readEvent(data));
    at += 16 + length;
  }
  return events;
}

function check(bytes: Buffer, expected: number): void {
  // Bit by bit, where the writer has a table.
  let crc = 0xffffffff;
  for (const byte of bytes)
    for (let bit = 0; bit < 8; bit++)
      crc = ((crc ^ (byte >> bit)) & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  const plain = BigInt(~crc >>> 0);
  const rotated = ((plain >> 15n) | (plain << 17n)) & 0xffffffffn;
  if (((rotated + 0xa282ead8n) & 0xffffffffn) !== BigInt(expected)) throw new Error("A checksum is wrong");
}

function readEvent(data: Buffer): ReadEvent {
  const event: ReadEvent = { wallTime: NaN, step: 0, scalars: {}, texts: {} };
  for (const { field, number, bytes } of fieldsOf(data)) {
    if (field === 1) event.wallTime = bytes.readDoubleLE();
    if (field === 2) event.step = number;
    if (field === 3) event.version = bytes.toString();
    if (field === 5) for (const value of fieldsOf(bytes)) readValue(fieldsOf(value.bytes), event);
  }
  return event;
}

function readValue(fields: Field[], event: ReadEvent): void {
  const of = (wanted: number) => fields.find(({ field }) => field === wanted)?.bytes;
  const tag = of(1)?.toString() ?? "";
  const simple = of(2);
  if (simple) event.scalars[tag] = simple.readFloatLE();
  const text = fieldsOf(of(8) ?? Buffer.alloc(0)).find(({ field }) => field === 8);
  if (text) event.texts[tag] = text.bytes.toString();
}

function fieldsOf(data: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = data.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < data.length) {
    const key = varint();
    const [field, wire] = [key >> 3, key & 7];
    const number = wire === 0 ? varint() : 0;
    const size = wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? varint() : 0;
    fields.push({ field, number, bytes: data.subarray(at, at + size) });
    at += size;
  }
  return fields;
}
