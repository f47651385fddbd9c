import { gzipSync } from "node:zlib";

export interface ArchiveFile {
  /** With `/` between folders, not beginning with one. */
  path: string;
  content: Uint8Array;
  isExecutable?: boolean;
}

const BLOCK_BYTES = 512;
/** What the plain header has room for. */
const NAME_BYTES = 100;
const REGULAR = "0";
/** An entry whose content is the name of the next: what GNU tar writes, and every tar reads. */
const LONG_NAME = "L";

/**
 * A tar.gz of these files: ordered by their paths, without times, owners or anything else that differs from one
 * machine to the next, so that the same files are the same bytes.
 *
 * @example
 * archive([{ path: "index.mjs", content: Buffer.from("...") }])
 */
export function archive(files: readonly ArchiveFile[]): Buffer {
  const ordered = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = ordered.flatMap(({ path, content, isExecutable = false }) => {
    const name = Buffer.from(path);
    const isLong = name.length > NAME_BYTES;
    return [
      ...(isLong ? entry("././@LongLink", LONG_NAME, Buffer.concat([name, Buffer.alloc(1)]), 0o644) : []),
      ...entry(
        name.subarray(0, NAME_BYTES).toString("latin1"),
        REGULAR,
        content,
        isExecutable ? 0o755 : 0o644,
      ),
    ];
  });
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]), { level: 6 });
  // The system that packed it, which gzip writes down.
  packed[9] = 255;
  return packed;
}

function entry(name: string, type: string, content: Uint8Array, mode: number): Uint8Array[] {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, NAME_BYTES, "latin1");
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, length, "ascii");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.byteLength, 124, 12);
  octal(0, 136, 12);
  // While it is summed up, the sum's own place counts as spaces.
  header.write("        ", 148, 8, "ascii");
  header.write(type, 156, 1, "ascii");
  header.write("ustar\0", 257, 6, "ascii");
  header.write("00", 263, 2, "ascii");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, 8, "ascii");
  const padding = Buffer.alloc((BLOCK_BYTES - (content.byteLength % BLOCK_BYTES)) % BLOCK_BYTES);
  return [header, content, padding];
}
