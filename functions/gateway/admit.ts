import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { Admission } from "../keys/limits.ts";
import { chatCaller, checkAccess, refuseStranger, type ChatCaller } from "./access.ts";
import { checkRequest, type CheckedRequest, type RequestKind } from "./check-request.ts";
import { badRequest } from "./refused-request.ts";
import { replaceModel } from "./replace-model.ts";
import { resolveModel } from "./resolve.ts";

export interface AdmitParams {
  kind: RequestKind;
  /** As sent. */
  authorization: string | undefined;
  /** Decides where an alias leads to, unless the request names its conversation. */
  requestId: string;
  /** The body; strangers are refused before it is read. */
  read: () => Promise<Uint8Array>;
  /** A request of our own pages: who calls was found out already. */
  caller?: ChatCaller | undefined;
}

/** A request that may go to its endpoint. */
export interface Admitted extends Admission {
  endpoint: Endpoint;
  request: CheckedRequest;
  /** For the engine: as it came, with the endpoint's name for its model. */
  body: Uint8Array;
}

/**
 * Everything that can be said about a request before a replica is asked for: who calls, whether the body is
 * valid, which endpoint is meant, whether this key may use it, and whether it has anything left. Throws coded
 * errors in that order. No Store call, once key and endpoint are known.
 */
export async function admit(control: Control, params: AdmitParams): Promise<Admitted> {
  const caller = params.caller ?? (await chatCaller(control, params.authorization));
  await control.routes.load();
  refuseStranger(control, caller);
  const bytes = await params.read();
  const request = checkRequest(params.kind, bytes);
  const endpoint = await resolveModel(control, request.model);
  checkAccess(caller, endpoint);
  checkEngine(request, endpoint);
  const admission = await counted(control, caller, bytes.byteLength);
  const body = request.model === endpoint.name ? bytes : replaceModel(bytes, endpoint.name);
  return { ...admission, endpoint, request, body };
}

const UNCOUNTED: Admission = { headers: {}, meter: () => undefined };

function counted(control: Control, caller: ChatCaller, bytes: number): Promise<Admission> | Admission {
  return caller.kind === "key" && caller.holder !== undefined
    ? control.limits.admit(caller.holder, bytes)
    : UNCOUNTED;
}

/** What this engine can never do, so that nothing is woken to say so. */
function checkEngine({ kind, otherPart }: CheckedRequest, endpoint: Endpoint): void {
  if (kind === "embeddings") {
    throw new SpotterError("route_unsupported", `Endpoint "${endpoint.name}" makes no embeddings.`, {
      hint: `Its engine is ${endpoint.engine}.`,
    });
  }
  if (otherPart === undefined) return;
  const { path, type } = otherPart;
  throw badRequest(
    "invalid_value",
    path,
    `Invalid '${path}': this model takes text parts only, not ${JSON.stringify(type.slice(0, 100))}.`,
  );
}
