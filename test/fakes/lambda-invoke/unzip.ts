import { crc32, inflateRawSync } from "node:zlib";

/** The files of a zip by its directory, as Lambda reads it: sizes, checksums and modes have to be right. */
export function unzip(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0) throw new Error("no end of central directory");
  const files = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error(`no entry at ${at}`);
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    if ((zip.readUInt32LE(at + 38) >>> 16) % 0o1000 !== 0o644)
      throw new Error(`${name} is not readable by all`);
    files.set(name, contentOf(zip, at, zip.readUInt32LE(at + 42)));
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return files;
}

function contentOf(zip: Buffer, entry: number, local: number): Buffer {
  if (zip.readUInt32LE(local) !== 0x04034b50) throw new Error(`no file at ${local}`);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const data = inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(entry + 20)));
  if (data.length !== zip.readUInt32LE(entry + 24) || crc32(data) !== zip.readUInt32LE(entry + 16)) {
    throw new Error("wrong size or checksum");
  }
  return data;
}
