import type { Control } from "../control.ts";
import { endpointTopic, getEndpoint } from "../endpoints/records.ts";
import { ANY_TOPIC } from "../events/bus.ts";
import { waitForRunEvents } from "../events/run-events.ts";
import type { ServerSentEvent } from "../events/sse.ts";
import { getRun } from "../runs/records.ts";
import { readOverview } from "./overview.ts";
import type { EndpointNews, OverviewNews, RunNews } from "./views/news.ts";

/** A look without a sign of news: another process may have written. */
const LOOK_AGAIN_MS = 5_000;
const WAIT_MS = 25_000;

/** The first page, whole, whenever something in it has changed. */
export async function* followOverview(
  control: Control,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  yield* whenChanged(control, ANY_TOPIC, signal, (): Promise<OverviewNews> => readOverview(control));
}

/** An endpoint whenever it has changed. */
export async function* followEndpoint(
  control: Control,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  yield* whenChanged(control, endpointTopic(name), signal, async (): Promise<EndpointNews> => {
    const { endpoint } = await getEndpoint(control, name);
    return { endpoint: { ...endpoint, url: `${control.config.publicUrl()}/v1` } };
  });
}

/** A run as it stands with its events since `afterSeq`, again and again, until it has ended. */
export async function* followRun(
  control: Control,
  id: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  let after = afterSeq;
  while (!signal.aborted) {
    const { events, next, done } = await waitForRunEvents(control, id, after, WAIT_MS, signal);
    const { run } = await getRun(control, id);
    const news: RunNews = { run, events, done };
    yield { id: String(next), data: JSON.stringify(news) };
    after = next;
    if (done) return;
  }
}

async function* whenChanged(
  control: Control,
  topic: string,
  signal: AbortSignal,
  read: () => Promise<unknown>,
): AsyncGenerator<ServerSentEvent> {
  const listener = control.bus.listen(topic);
  try {
    for (let last = ""; !signal.aborted;) {
      const data = JSON.stringify(await read());
      if (data !== last) yield { data };
      last = data;
      await listener.next(LOOK_AGAIN_MS, signal);
    }
  } finally {
    listener.close();
  }
}
