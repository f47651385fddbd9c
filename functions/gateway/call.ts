import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { Observation } from "../observability/observer.ts";
import type { ChatCaller } from "./access.ts";
import { admit } from "./admit.ts";
import { affinityOf, hashOf } from "./affinity.ts";
import type { CheckedRequest, RequestKind } from "./check-request.ts";
import { exchange } from "./exchange.ts";
import type { Sink } from "./sink.ts";
import type { Upstreams } from "./upstream.ts";

/** Paths that go to replicas, as engines know them. */
export const KINDS: Readonly<Record<string, RequestKind>> = {
  "/v1/chat/completions": "chat",
  "/v1/completions": "completions",
  "/v1/embeddings": "embeddings",
  "/tokenize": "tokenize",
  "/detokenize": "detokenize",
};
/** As the replicas take. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A request for a replica, whatever server it came through. */
export interface Call {
  /** One of {@link KINDS}. */
  path: string;
  requestId: string;
  authorization: string | undefined;
  /** The body, asked for once and only if the caller is not a stranger. */
  read: () => Promise<Uint8Array>;
  /** Found out already, for requests of our own pages. */
  caller?: ChatCaller | undefined;
  seen: Observation;
  sink: Sink;
  isGone: () => boolean;
  /** Answers with an error; nothing was written yet. */
  answerError: (error: unknown) => void;
}

/**
 * Checks a request and carries it to a replica. Resolves when it is under way; what happens from there on is
 * told to the sink, or to `answerError`. Rejects with what is wrong with the request itself.
 */
export async function converse(control: Control, upstreams: Upstreams, call: Call): Promise<void> {
  const { path, requestId, authorization, read, caller, seen, sink, answerError } = call;
  const kind = KINDS[path] ?? "chat";
  const admitted = await admit(control, { kind, authorization, requestId, read, caller, seen });
  const { endpoint, request, body, headers, meter } = admitted;
  seen.endpoint(endpoint.name);
  try {
    if (call.isGone()) throw new SpotterError("user_cancelled", "The client went away.");
    exchange({
      control,
      upstreams,
      endpoint,
      path,
      question: { body, affinity: () => affinity(request) },
      isStream: request.stream,
      choices: choicesOf(request.fields),
      admission: { headers, meter },
      seen,
      sink,
      answerError,
      errorEvent: (error) => Buffer.from(`data: ${JSON.stringify(error)}\n\n`),
    });
  } catch (error) {
    // Let in, but it never came to a replica.
    meter(undefined);
    throw error;
  }
}

function affinity({ conversation, fields }: CheckedRequest): number {
  return conversation === undefined ? affinityOf(fields) : hashOf(conversation);
}

/** Completions answer every prompt of a list. */
function choicesOf({ n, prompt }: CheckedRequest["fields"]): number {
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt.length : 1;
  return prompts * (typeof n === "number" ? n : 1);
}
