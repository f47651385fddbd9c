import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Health } from "../../../sdk/schema/status.ts";
import { ORIGIN_HEADER } from "../../gateway/front-door.ts";
import { sameHash, sha256Of } from "../../records/hash.ts";
import type { FunctionUrlAnswer, FunctionUrlEvent } from "./function-url.ts";

/** The host that the sender asked for; the front door puts it there, whatever the sender said. */
const HOST_HEADER = "x-spotter-host";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a function, with `SPOTTER_URL` as the front door tells it. A distribution has its name only
 * when its functions are there, so without a domain of one's own it cannot be among their variables. Only who
 * knows the secret is believed.
 *
 * @throws SpotterError `forbidden`
 */
export function toldByFrontDoor({ headers }: FunctionUrlEvent, environment: Environment): Environment {
  const { SPOTTER_URL: url, SPOTTER_ORIGIN_SECRET: secret } = environment;
  const { [ORIGIN_HEADER]: shown = "", [HOST_HEADER]: host } = headers;
  if (url !== undefined || secret === undefined) return environment;
  if (!isSame(shown, secret)) throw notByFrontDoor("Use the URL of the stack.");
  return host === undefined ? environment : { ...environment, SPOTTER_URL: `https://${host}` };
}

/**
 * The request as its sender meant it. A function URL is open to the world, and whoever asks it directly comes
 * past the distribution's protection, so only what carries the secret of the stack is answered. Then the host
 * is that of the distribution: it asks under the function's own name.
 *
 * @throws SpotterError `forbidden`
 */
export function throughFrontDoor(
  event: FunctionUrlEvent,
  { secret, publicUrl }: { secret: string; publicUrl: string },
): FunctionUrlEvent {
  const { [ORIGIN_HEADER]: shown = "", [HOST_HEADER]: _, ...headers } = event.headers;
  if (!isSame(shown, secret)) throw notByFrontDoor(`Use ${publicUrl}.`);
  const { host } = new URL(publicUrl);
  return {
    ...event,
    headers: { ...headers, host },
    requestContext: { ...event.requestContext, domainName: host },
  };
}

/** Hashes are of one length, so that the time this takes tells nothing of the secret. */
function isSame(shown: string, secret: string): boolean {
  return sameHash(sha256Of(shown), sha256Of(secret));
}

function notByFrontDoor(hint: string): SpotterError {
  return new SpotterError("forbidden", "This address is for Spotter's own front door only.", {
    where: ORIGIN_HEADER,
    hint,
  });
}

/** An error that is known before there is an app. */
export function errorAnswer(error: SpotterError): FunctionUrlAnswer {
  return {
    statusCode: error.status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(error.toBody()),
  };
}

/** That this is Spotter, and which version: all that is told to anyone, before anything is opened. */
export function healthAnswer(): FunctionUrlAnswer {
  const version = process.env["SPOTTER_VERSION"] ?? "unknown";
  return {
    statusCode: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ok: true, name: "spotter", version } satisfies Health),
  };
}
