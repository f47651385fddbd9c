import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";

/** What is wrong with one conversation, and not with the eval. */
const OWN_CODES: readonly string[] = [
  "context_length_exceeded",
  "dataset_invalid",
  "chat_template_failed",
  "grammar_too_complex",
  "payload_too_large",
];
/** An endpoint does not take this request, or fails whenever it tries. */
const OWN_STATUSES: readonly number[] = [400, 413, 422, 500];

/** Whether only this conversation cannot be played, so that its row has an error and the others go on. */
export function isOwnFault(error: unknown): error is SpotterError & Pick<Failure, "code" | "message"> {
  if (!SpotterError.is(error)) return false;
  if (error.code === "attempt_stale" || error.code === "daemon_unreachable") return false;
  return OWN_CODES.includes(error.code) || OWN_STATUSES.includes(error.status);
}
