import { crc32, deflateRawSync } from "node:zlib";

/** 1980-01-01, the first day a zip knows: the same files give the same bytes. */
const DATE = 0x21;
const VERSION = 20;
const DEFLATE = 8;
/** UTF-8 names. */
const FLAGS = 0x800;
/** Readable by all, as Lambda needs it; the upper half of the attributes is Unix's. */
const READABLE = (0o100644 << 16) >>> 0;

/** A zip archive of a few files. */
export function zipOf(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content as string);
    const packed = deflateRawSync(data);
    const nameBytes = Buffer.from(name, "utf8");
    const common = commonOf(data, packed, nameBytes);
    const local = Buffer.concat([uint32(0x04034b50), common, uint16(0), nameBytes, packed]);
    const rest = [uint16(0), uint16(0), uint16(0), uint16(0), uint32(READABLE), uint32(offset)];
    entries.push(Buffer.concat([uint32(0x02014b50), uint16(0x300 | VERSION), common, ...rest, nameBytes]));
    bodies.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const count = uint16(entries.length);
  const end = [
    uint32(0x06054b50),
    uint32(0),
    count,
    count,
    uint32(directory.length),
    uint32(offset),
    uint16(0),
  ];
  return Buffer.concat([...bodies, directory, ...end]);
}

/** What the header of a file and its entry in the directory share, up to the length of the name. */
function commonOf(data: Buffer, packed: Buffer, name: Buffer): Buffer {
  return Buffer.concat([
    ...[uint16(VERSION), uint16(FLAGS), uint16(DEFLATE), uint16(0), uint16(DATE)],
    ...[uint32(crc32(data)), uint32(packed.length), uint32(data.length), uint16(name.length)],
  ]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
