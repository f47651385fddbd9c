import { SpotterError } from "../../sdk/schema/errors.ts";

/** Whether a put or a delete failed because somebody else was faster. */
export function isConflict(error: unknown): boolean {
  return SpotterError.is(error) && error.code === "store_conflict";
}
