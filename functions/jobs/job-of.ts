import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RouteInput } from "../http/route.ts";
import type { JobRecord } from "./records.ts";

/** The job whose token a request bears. */
export function jobOf(input: Pick<RouteInput<undefined, undefined>, "job">): JobRecord {
  if (input.job === undefined) throw new SpotterError("unauthorized", "This route needs the token of a job.");
  return input.job;
}
