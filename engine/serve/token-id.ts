import { RequestError } from "./request-error.ts";

/** A token id of this model. Throws {@link RequestError}. */
export function readId(id: unknown, vocabularySize: number, path: string): number {
  if (typeof id !== "number" || !Number.isInteger(id)) throw wrongType(path, "a token id");
  if (id >= 0 && id < vocabularySize) return id;
  const message = `Invalid '${path}': this model's token ids go from 0 to ${vocabularySize - 1}.`;
  const code = id < 0 ? "integer_below_min_value" : "integer_above_max_value";
  throw new RequestError(message, { code, param: path });
}

export function wrongType(path: string, expected: string): RequestError {
  return new RequestError(`Invalid '${path}': expected ${expected}.`, { code: "invalid_type", param: path });
}
