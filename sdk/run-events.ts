import { SpotterError } from "./schema/errors.ts";
import { runEventPage, type RunEvent, type RunEventPage } from "./schema/event.ts";
import type { Client } from "./client.ts";
import { sleep } from "./retry.ts";
import type { RunEventsParams } from "./run.ts";

/** Time the server may hold a poll, and how long it may be away before we give up. */
const WAIT_MS = 20_000;
const OUTAGE_MS = 10 * 60_000;

/** The events of a run by long polls, each from where the last one ended. */
export async function* followRun(
  client: Client,
  id: string,
  params: RunEventsParams,
): AsyncGenerator<RunEvent, void, undefined> {
  const { signal } = params;
  const path = `/runs/${encodeURIComponent(id)}/events`;
  let after = params.after ?? 0;
  let lastAnswerMs = performance.now();
  for (;;) {
    const page = await poll(client, path, after, signal).catch((error: unknown) => {
      if (!isOutage(error) || performance.now() - lastAnswerMs > OUTAGE_MS) throw error;
      return undefined;
    });
    if (!page) {
      await sleep(500, signal);
      continue;
    }
    lastAnswerMs = performance.now();
    yield* page.events;
    if (page.done) return;
    after = page.next;
  }
}

function poll(
  client: Client,
  path: string,
  after: number,
  signal: AbortSignal | undefined,
): Promise<RunEventPage> {
  const query = { after, waitMs: WAIT_MS };
  return client.request(runEventPage, "GET", path, { query, signal, timeoutMs: WAIT_MS + 20_000 });
}

/** The server is away or unwell; the events are still in its store. */
function isOutage(error: unknown): boolean {
  if (!SpotterError.is(error)) return false;
  // Not so after `spotter down`: that outage is wanted and ends when somebody says so.
  if (error.code === "daemon_unreachable") return error.retryable;
  return error.code === "timeout" || error.status >= 502;
}
