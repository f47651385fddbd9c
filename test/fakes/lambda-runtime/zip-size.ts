import { deflateRawSync } from "node:zlib";
import type { Bundle } from "../../../infra/bundle.ts";

/** Local and central headers of a file, without its name. */
const HEADER_BYTES = 30 + 46;
const END_BYTES = 22;

/** Bytes of a zip of these files, as any zip program makes it. */
export function zipSize(files: Bundle): number {
  return Object.entries(files).reduce(
    (sum, [name, text]) => sum + HEADER_BYTES + 2 * Buffer.byteLength(name) + deflateRawSync(text).length,
    END_BYTES,
  );
}
