import { readText } from "../http/read-text.ts";
import { TrackerRefusal } from "./tracker-sink.ts";

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 4_000_000;
/** Of an answer, for messages. */
const SHOWN = 200;

export interface TrackerRequest {
  method: "GET" | "POST";
  url: string;
  /** Of the header `authorization`. */
  authorization?: string | undefined;
  json?: unknown;
}

/** Asks a tracker's server. Resolves to what it answered, whatever the status. */
export type TrackerHttp = (request: TrackerRequest) => Promise<{ status: number; text: string }>;

/** Redirects are refused: keys go to the address that was named, and nowhere else. */
export const trackerHttp: TrackerHttp = async ({ method, url, authorization, json }) => {
  const response = await fetch(url, {
    method,
    headers: {
      "user-agent": "spotter",
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(authorization !== undefined && { authorization }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await readText(response, MAX_ANSWER_BYTES);
  if (text === undefined) throw new TrackerRefusal(`answered with more than ${MAX_ANSWER_BYTES} bytes`);
  return { status: response.status, text };
};

/**
 * The answer as JSON.
 *
 * @throws TrackerRefusal for every status but 2xx, and for what is no JSON.
 */
export async function askTracker(http: TrackerHttp, request: TrackerRequest): Promise<unknown> {
  const { status, text } = await http(request).catch((error: unknown) => {
    throw error instanceof TrackerRefusal ? error : new TrackerRefusal(reasonOf(error));
  });
  if (status < 200 || status > 299) throw new TrackerRefusal(`answered ${status}: ${shown(text)}`, status);
  try {
    return JSON.parse(text || "{}") as unknown;
  } catch {
    throw new TrackerRefusal(`answered with something that is no JSON: ${shown(text)}`);
  }
}

/** As much of what a tracker says as a message holds, in one line. */
export function shown(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "did not answer in 10 s";
  return error.cause instanceof Error ? error.cause.message : error.message;
}
