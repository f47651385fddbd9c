import { SpotterError } from "../../../sdk/schema/errors.ts";

const MIB = 1024 * 1024;
export const MIN_PART_BYTES = 5 * MIB;
export const PART_BYTES = 8 * MIB;
export const MAX_PARTS = 10_000;
/** What S3 takes in one request. */
export const MAX_PUT_BYTES = 5 * 1024 * MIB;
const PARTS_OF_ONE_SIZE = 2_000;

/** A piece of a body; `last` says that nothing follows. */
export interface Part {
  bytes: Uint8Array;
  last: boolean;
}

/**
 * Bytes of part `number`, counted from 1. S3 takes 10,000 parts: a stream of unknown length begins with small
 * ones and doubles them on the way, so that 484 GiB fit and a common body needs little memory.
 */
export function growingPartBytes(number: number): number {
  return PART_BYTES * 2 ** Math.floor((number - 1) / PARTS_OF_ONE_SIZE);
}

/** Cuts a body into parts; holds no more than one of them. An empty body is one empty part. */
export async function* partsOf(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  onBytes: (chunk: Uint8Array) => void,
  partBytes: (number: number) => number = growingPartBytes,
): AsyncGenerator<Part> {
  const chunks = body instanceof Uint8Array ? [body] : body;
  let gathered: Uint8Array[] = [];
  let number = 1;
  let missing = partBytes(number);
  for await (const chunk of chunks) {
    onBytes(chunk);
    for (let rest = chunk; rest.byteLength > 0;) {
      // A full part waits for the first byte after it, to know that it is not the last.
      if (missing === 0) {
        yield { bytes: whole(gathered), last: false };
        gathered = [];
        number += 1;
        if (number > MAX_PARTS) throw tooLarge();
        missing = partBytes(number);
      }
      const piece = rest.subarray(0, missing);
      gathered.push(piece);
      missing -= piece.byteLength;
      rest = rest.subarray(piece.byteLength);
    }
  }
  yield { bytes: whole(gathered), last: true };
}

function whole(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

function tooLarge(): SpotterError {
  return new SpotterError("payload_too_large", "A streamed body is larger than S3 takes in 10,000 parts.", {
    hint: "Split it into several files.",
  });
}
