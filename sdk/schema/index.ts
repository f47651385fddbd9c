/**
 * The wire contract: every shape that crosses a process border, in zod/mini. Types are inferred, defaults
 * are filled here and nowhere else.
 *
 * @module
 */
export * from "./chat.ts";
export * from "./checkpoint.ts";
export * from "./common.ts";
export * from "./cost.ts";
export * from "./dataset.ts";
export * from "./endpoint.ts";
export * from "./error-codes.ts";
export * from "./errors.ts";
export * from "./eval.ts";
export * from "./launch-eval.ts";
export * from "./eval-row.ts";
export * from "./event.ts";
export * from "./export.ts";
export * from "./hardware.ts";
export * from "./job.ts";
export * from "./key.ts";
export * from "./model.ts";
export * from "./parse.ts";
export * from "./parse-response.ts";
export {
  ResponseStream,
  type CallEnd,
  type ResponseStreamOptions,
  type StreamPart,
} from "./response-stream.ts";
export * from "./rollout.ts";
export * from "./run.ts";
export * from "./run-detail.ts";
export * from "./run-spec.ts";
export * from "./scaling.ts";
export * from "./status.ts";
export * from "./user-code.ts";
