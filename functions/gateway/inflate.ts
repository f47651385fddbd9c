import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { tooLarge } from "../http/body.ts";
import { badRequest } from "./refused-request.ts";

const WAYS = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);

/**
 * A body without its `Content-Encoding`. Replicas get it plain. Throws `payload_too_large` before more than
 * `maxBytes` were unpacked.
 */
export async function inflated(
  body: Promise<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const name = (encoding ?? "").trim().toLowerCase();
  if (name === "" || name === "identity") return body;
  const bytes = await body;
  const way = WAYS.get(name);
  if (way === undefined) {
    const shown = JSON.stringify(name.slice(0, 50));
    throw badRequest(null, undefined, `The content encoding ${shown} is not known; use gzip or none.`);
  }
  try {
    return await way(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError || (error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE")
      throw tooLarge(maxBytes);
    throw badRequest(
      null,
      undefined,
      `We could not unpack the body of your request, which says it is ${name}.`,
    );
  }
}
