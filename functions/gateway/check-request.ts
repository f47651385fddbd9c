import { badRequest } from "./refused-request.ts";
import {
  checkChat,
  checkCompletion,
  checkDetokenize,
  checkEmbeddings,
  checkTokenize,
} from "./check-request-routes.ts";
import { isObject, missing, needText, type Fields } from "./check-request-fields.ts";

/** What a request asks of the engine. */
export type RequestKind = "chat" | "completions" | "embeddings" | "tokenize" | "detokenize";

/** A body that was read once. Its bytes go on as they came, so that nothing is lost that only engines know. */
export interface CheckedRequest {
  kind: RequestKind;
  model: string;
  stream: boolean;
  /** The parsed body. */
  fields: Fields;
  /** Names its conversation, where the client gave it a name: turns that belong together stay together. */
  conversation: string | undefined;
  /** The first part of a message that is not text; text-only engines refuse it. */
  otherPart: { path: string; type: string } | undefined;
}

const DECODER = new TextDecoder("utf-8", { fatal: true });
const CHECKS = {
  chat: checkChat,
  completions: checkCompletion,
  embeddings: checkEmbeddings,
  tokenize: checkTokenize,
  detokenize: checkDetokenize,
} as const satisfies Record<RequestKind, unknown>;

/**
 * Reads and checks a body before anything is woken for it. Null is absent; keys that nobody here knows go on to
 * the engine. Throws a RefusedRequest with OpenAI's code and the path of the field.
 */
export function checkRequest(kind: RequestKind, bytes: Uint8Array): CheckedRequest {
  const fields = parsed(bytes);
  refuseOwnExtensions(fields);
  if (fields["model"] === undefined || fields["model"] === null || fields["model"] === "")
    throw missing("model");
  const model = needText(fields["model"], "model");
  const otherPart = CHECKS[kind](fields);
  return {
    kind,
    model,
    stream: fields["stream"] === true,
    fields,
    conversation: conversationOf(fields),
    otherPart,
  };
}

function parsed(bytes: Uint8Array): Fields {
  if (bytes.byteLength === 0)
    throw badRequest(null, undefined, "The request body is empty; send a JSON object.");
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(bytes));
  } catch {
    throw badRequest(
      null,
      undefined,
      "We could not parse the JSON body of your request (UTF-8 is expected).",
    );
  }
  if (isObject(value)) return value;
  throw badRequest(null, undefined, "The request body must be a JSON object.");
}

/** What engines know is theirs; keys that begin like ours would be typing errors nobody notices. */
function refuseOwnExtensions(fields: Fields): void {
  for (const key in fields) {
    if (key.startsWith("spotter")) throw badRequest("unknown_parameter", key, `Unknown parameter: '${key}'.`);
  }
}

function conversationOf(fields: Fields): string | undefined {
  for (const name of ["prompt_cache_key", "safety_identifier", "user"]) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
