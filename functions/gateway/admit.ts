import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { Admission } from "../keys/limits.ts";
import type { Observation } from "../observability/observer.ts";
import { launchImplicit } from "../endpoints/implicit.ts";
import { chatCaller, checkAccess, mayUseEndpoint, refuseStranger, type ChatCaller } from "./access.ts";
import { checkRequest, type CheckedRequest, type RequestKind } from "./check-request.ts";
import { badRequest } from "./refused-request.ts";
import { replaceModel } from "./replace-model.ts";
import { resolveModel, type Resolved } from "./resolve.ts";

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
  /** Told which key it was, refused or not. */
  seen?: Pick<Observation, "key">;
}

/** A request that may go to its endpoint. */
export interface Admitted extends Admission {
  endpoint: Endpoint;
  request: CheckedRequest;
  /** For the engine: as it came, with the name of the endpoint, or of an adapter it serves, for its model. */
  body: Uint8Array;
}

/**
 * Everything that can be said about a request before a replica is asked for: who calls, whether the body is
 * valid, which endpoint is meant, whether this key may use it, and whether it has anything left. Throws coded
 * errors in that order. No Store call, once key and endpoint are known.
 */
export async function admit(control: Control, params: AdmitParams): Promise<Admitted> {
  const caller = params.caller ?? (await chatCaller(control, params.authorization));
  if (caller.kind === "key" && caller.holder !== undefined) params.seen?.key(caller.holder.id);
  await control.routes.load();
  refuseStranger(control, caller);
  const bytes = await params.read();
  const request = checkRequest(params.kind, bytes);
  const resolved = await resolveModel(control, request.model, {
    splitBy: request.conversation ?? params.requestId,
    mayList: (each) => mayUseEndpoint(caller, each),
  });
  checkAccess(caller, resolved);
  checkEngine(request, resolved);
  const admission = await counted(control, caller, bytes.byteLength);
  const endpoint = await endpointOf(control, resolved, admission);
  const model = resolved.adapter ?? endpoint.name;
  const body = request.model === model ? bytes : replaceModel(bytes, model);
  return { ...admission, endpoint, request, body };
}

const UNCOUNTED: Admission = { headers: {}, meter: () => undefined };

function counted(control: Control, caller: ChatCaller, bytes: number): Promise<Admission> | Admission {
  return caller.kind === "key" && caller.holder !== undefined
    ? control.limits.admit(caller.holder, bytes)
    : UNCOUNTED;
}

/** A checkpoint that nobody serves gets its endpoint now. */
async function endpointOf(
  control: Control,
  { endpoint, checkpoint, names }: Resolved,
  { meter }: Admission,
): Promise<Endpoint> {
  if (endpoint !== undefined) return endpoint;
  if (checkpoint === undefined) throw new Error(`${names.join(", ")} led to nothing`);
  try {
    return await launchImplicit(control, checkpoint);
  } catch (error) {
    meter(undefined);
    throw error;
  }
}

/** What its engine can never do, so that nothing is woken to say so. */
function checkEngine({ kind, otherPart }: CheckedRequest, { endpoint, names }: Resolved): void {
  if (kind === "embeddings") {
    const name = endpoint?.name ?? names[0];
    throw new SpotterError("route_unsupported", `Endpoint "${name}" makes no embeddings.`, {
      hint: "The embedded engine answers /v1/chat/completions, /v1/completions, /tokenize and /detokenize.",
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
