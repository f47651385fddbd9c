import { sleep } from "../retry.ts";
import { unreachable, type HubTarget } from "./hub-errors.ts";
import { hubGet, type HubConnection } from "./hub-request.ts";

/** From `start` up to, not including, `end`, in bytes. */
export interface ByteRange {
  start: number;
  end?: number | undefined;
}

/** Connections in a row that may break without a byte having come. */
const MAX_BREAKS = 5;

/** Yields the bytes of a range. A connection that breaks is followed by one that asks for the rest. */
export async function* readResuming(
  hub: HubConnection,
  target: HubTarget,
  url: URL,
  range: ByteRange = { start: 0 },
): AsyncIterable<Uint8Array> {
  let at = range.start;
  let end = range.end;
  let breaks = 0;
  while (end === undefined || at < end) {
    const response = await hubGet(hub, target, url, rangeHeader(at, end));
    // Nothing is left: the file ends where the last connection broke.
    if (response.status === 416) return void (await response.body?.cancel());
    // A server may answer a range with the whole file.
    let skip = response.status === 206 ? 0 : at;
    end ??= endOf(response, at);
    try {
      for await (const chunk of response.body ?? []) {
        const bytes = chunk as Uint8Array;
        const from = Math.min(skip, bytes.byteLength);
        skip -= from;
        const wanted = bytes.subarray(from, end === undefined ? undefined : from + (end - at));
        if (wanted.byteLength === 0) continue;
        at += wanted.byteLength;
        breaks = 0;
        yield wanted;
        if (at === end) return;
      }
      if (end === undefined) return;
      throw new Error(`the connection ended ${end - at} bytes early`);
    } catch (error) {
      hub.signal?.throwIfAborted();
      if (++breaks >= MAX_BREAKS) throw unreachable(target, url, breaks, error);
      await sleep(hub.retryDelayMs * 2 ** (breaks - 1) * (0.5 + Math.random() / 2), hub.signal);
    }
  }
}

function rangeHeader(start: number, end: number | undefined): Record<string, string> {
  return start === 0 && end === undefined
    ? {}
    : { range: `bytes=${start}-${end === undefined ? "" : end - 1}` };
}

/** Where the file ends, if the answer says. */
function endOf(response: Response, at: number): number | undefined {
  const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
  if (total !== undefined) return Number(total);
  const length = response.headers.get("content-length");
  if (length === null) return undefined;
  return response.status === 206 ? at + Number(length) : Number(length);
}
