import { SpotterError } from "../../../../sdk/schema/errors.ts";

/** A GGUF file whose bytes cannot be as they were written. `what` goes on after the path, with a verb or a colon. */
export function ggufCorrupt(path: string, what: string, where = ""): SpotterError {
  return new SpotterError("model_corrupt", `${path}${what.startsWith(":") ? "" : " "}${what}.`, {
    where: where === "" ? path : `${path}: ${where}`,
    hint: "Download the file again; its size and hash are on the page it came from.",
  });
}

/** A sound GGUF file of a kind this engine does not run. */
export function ggufUnsupported(path: string, what: string, where: string, hint: string): SpotterError {
  return new SpotterError("model_unsupported", `${path}: ${what}.`, { where: `${path}: ${where}`, hint });
}
