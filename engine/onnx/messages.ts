/**
 * What the engine's worker and its client tell each other. Messages carry lists: requests made together are
 * queued together, so that batches do not depend on timing, and the tokens of a decode step travel together.
 *
 * @module
 */
import { SpotterError, type ErrorBody } from "../../sdk/schema/errors.ts";
import type {
  EngineSetup,
  GenerateRequest,
  GenerateResult,
  Scored,
  TokenChunk,
  TrainBatch,
  TrainStepResult,
} from "./engine-api.ts";

export type Call =
  | { method: "start"; setup: EngineSetup }
  /** `stream`: report tokens as they come, not only at the end. */
  | { method: "generate"; request: GenerateRequest; stream: boolean }
  | { method: "score"; sequences: number[][]; which: Scored; temperature: number }
  | { method: "trainStep"; batch: TrainBatch }
  | { method: "saveModel" | "saveTrainerState" | "loadTrainerState"; dir: string }
  | { method: "close" };

export type ToWorker = { id: number; call: Call } | { id: number; abort: true };

export type Result = GenerateResult | number[][] | TrainStepResult | undefined;

export type FromWorker =
  { id: number; chunk: TokenChunk } | { id: number; result: Result } | { id: number; error: WireError };

export interface WireError {
  body: ErrorBody;
  status: number;
}

export function toWire(thrown: unknown): WireError {
  const error = SpotterError.from(thrown);
  return { body: error.toBody(), status: error.status };
}

export function fromWire({ body, status }: WireError): SpotterError {
  return SpotterError.fromBody(body, status);
}
