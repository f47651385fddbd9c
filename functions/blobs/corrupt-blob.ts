import { SpotterError } from "../../sdk/schema/errors.ts";

export function corruptBlob(key: string, expected: string, actual: string): SpotterError {
  return new SpotterError(
    "blob_corrupt",
    `${key} hashes to ${actual}, not to ${expected}; it was not kept.`,
    {
      where: key,
      hint: "Send it again; if that repeats, the file changed or was damaged at its source.",
    },
  );
}
