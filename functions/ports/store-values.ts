import { SpotterError } from "../../sdk/schema/errors.ts";
import { MAX_VALUE_BYTES } from "./store.ts";

/** The stored text of a value; `where` names it in errors. */
export function encodeValue(value: unknown, where: string): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) {
    throw new SpotterError("invalid_input", `The value of ${where} is not JSON.`, { where });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_VALUE_BYTES) return text;
  throw new SpotterError(
    "value_too_large",
    `The value of ${where} has ${bytes} bytes; the store takes ${MAX_VALUE_BYTES}.`,
    { where, hint: "Keep large content in Blobs and store its key." },
  );
}

/** A cursor: the sort keys of the last item of a page. */
export function encodeCursor(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

export function decodeCursor(cursor: string, length: number): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parts) && parts.length === length && parts.every((part) => typeof part === "string")) {
      return parts;
    }
  } catch {
    // Told below.
  }
  throw new SpotterError("invalid_input", "The cursor does not belong to this query.", {
    where: "after",
    hint: "Pass `next` of the previous page unchanged, with the same other options.",
  });
}
