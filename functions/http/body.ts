import type { Context } from "hono";
import { SpotterError } from "../../sdk/schema/errors.ts";

export const DEFAULT_MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The whole body; above the limit it stops reading and throws `payload_too_large`. */
export async function readBody(c: Context, maxBytes: number): Promise<Uint8Array> {
  const declared = Number(c.req.header("content-length") ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyStream(c)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

export async function readJson(c: Context, maxBytes: number): Promise<unknown> {
  const bytes = await readBody(c, maxBytes);
  if (bytes.byteLength === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch (cause) {
    throw new SpotterError("invalid_input", "The request body is not JSON.", {
      hint: "Send a JSON object in UTF-8.",
      cause,
    });
  }
}

/** The body as it arrives; empty where there is none. */
export function bodyStream(c: Context): ReadableStream<Uint8Array> {
  return (
    c.req.raw.body ??
    new ReadableStream<Uint8Array>({
      start(controller) {
        controller.close();
      },
    })
  );
}

export function tooLarge(maxBytes: number): SpotterError {
  return new SpotterError("payload_too_large", `The request body is larger than ${maxBytes} bytes.`, {
    hint: "Send less at once; datasets go to PUT /datasets/:sha256.",
  });
}
