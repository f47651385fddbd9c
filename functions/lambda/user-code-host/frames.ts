/** Messages between host and user process: four bytes of length, then UTF-8. */
export function frameOf(text: string): Buffer {
  const body = Buffer.from(text, "utf8");
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
}

/** Takes chunks as they come and gives whole messages; throws where one is longer than `maxBytes`. */
export function frameReader(onFrame: (text: string) => void, maxBytes: number): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes >= 4) {
      const first = chunks[0];
      const head = first && first.length >= 4 ? first : Buffer.concat(chunks);
      const needed = 4 + head.readUInt32LE(0);
      if (needed > maxBytes) throw new Error(`a message of ${needed} bytes`);
      if (bytes < needed) return;
      const all = Buffer.concat(chunks);
      chunks = [all.subarray(needed)];
      bytes -= needed;
      onFrame(all.subarray(4, needed).toString("utf8"));
    }
  };
}
