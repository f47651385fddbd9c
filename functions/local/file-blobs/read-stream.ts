import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 256 * 1024;

/** Bytes [start, end) of an open file, read as they are asked for; owns and closes the handle. */
export function readStream(handle: FileHandle, start: number, end: number): ReadableStream<Uint8Array> {
  let position = start;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const wanted = Math.min(CHUNK_BYTES, end - position);
          if (wanted > 0) {
            const { bytesRead, buffer } = await handle.read(new Uint8Array(wanted), 0, wanted, position);
            if (bytesRead === 0) throw new Error("The file became shorter while it was read.");
            position += bytesRead;
            controller.enqueue(buffer.subarray(0, bytesRead));
          }
          if (position < end) return;
          await handle.close();
          controller.close();
        } catch (error) {
          await handle.close();
          throw error;
        }
      },
      async cancel() {
        await handle.close();
      },
    },
    { highWaterMark: 0 },
  );
}
