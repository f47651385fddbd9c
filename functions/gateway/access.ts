import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { bearerOf } from "../http/authenticate.ts";
import { isJobToken } from "../jobs/tokens.ts";
import type { KeyHolder } from "../keys/key-ring.ts";
import { RefusedRequest } from "./refused-request.ts";
import type { Resolved } from "./resolve.ts";

/** Who talks: a key (without holder: a page of ours), the container of an eval or a student, or nobody that is known. */
export type ChatCaller =
  { kind: "key"; holder?: KeyHolder } | { kind: "eval"; endpoint?: string } | { kind: "anonymous" };

/**
 * Tells who calls by the Authorization header. One that is there but not valid is refused, public endpoint or
 * not.
 */
export async function chatCaller(control: Control, authorization: string | undefined): Promise<ChatCaller> {
  if (authorization === undefined) return { kind: "anonymous" };
  const token = bearerOf(authorization);
  if (token === undefined) throw invalidKey("The Authorization header is not `Bearer KEY`.");
  if (isJobToken(token)) {
    const job = await control.jobTokens.find(token);
    // A training talks to its teacher, and to nobody else.
    if (job === undefined || job.fenced || (job.kind !== "eval" && job.endpoint === undefined))
      throw invalidKey("This job token is not valid here.");
    return { kind: "eval", ...(job.endpoint !== undefined && { endpoint: job.endpoint }) };
  }
  const holder = await control.keys.find(token);
  if (holder === undefined) throw invalidKey("This key is unknown or revoked.");
  return { kind: "key", holder };
}

/** Before a model name is even looked at: names are not for strangers, unless something here is public. */
export function refuseStranger(control: Control, caller: ChatCaller): void {
  if (caller.kind !== "anonymous" || control.routes.all().some((endpoint) => endpoint.public)) return;
  throw noKey();
}

export function checkAccess(caller: ChatCaller, resolved: Resolved): void {
  if (mayUse(caller, resolved)) return;
  if (caller.kind === "anonymous") throw noKey();
  const name = resolved.endpoint?.name ?? resolved.names[0] ?? "";
  throw new SpotterError("forbidden", `This key may not use endpoint "${name}".`, {
    hint: "Create a key for it with `spotter key create`.",
  });
}

/**
 * A key that lists endpoints may use what it lists by any of its names: its own, an alias, the run. What is public
 * is the model that was launched, and not what was trained on it since.
 */
export function mayUse(caller: ChatCaller, { endpoint, adapter, names }: Resolved): boolean {
  if (endpoint?.public && adapter === undefined) return true;
  switch (caller.kind) {
    case "anonymous":
      return false;
    case "eval":
      return caller.endpoint === undefined || caller.endpoint === endpoint?.name;
    case "key": {
      const listed = caller.holder?.endpoints;
      if (listed === undefined) return true;
      return (
        (endpoint !== undefined && listed.includes(endpoint.name)) ||
        names.some((name) => listed.includes(name))
      );
    }
  }
}

/** The same for an endpoint by its own name. */
export function mayUseEndpoint(caller: ChatCaller, endpoint: Endpoint): boolean {
  return mayUse(caller, { endpoint, names: [] });
}

function noKey(): SpotterError {
  const hint = "Send `Authorization: Bearer sk-spotter-...`.";
  return new RefusedRequest("unauthorized", "You did not send a key.", { code: null }, { hint });
}

function invalidKey(message: string): SpotterError {
  return new SpotterError("unauthorized", message, { hint: "`spotter key create` makes a new one." });
}
