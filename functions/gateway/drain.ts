import type { Server, ServerResponse } from "node:http";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { Slots } from "./slots.ts";

export interface DrainTimes {
  /** New requests are still taken for so long: a load balancer learns late that there are to be no more. */
  acceptMs: number;
  /** Then those under way have this long to end. */
  finishMs: number;
}

/** Fargate gives a container two minutes at most. */
export const DRAIN_TIMES: DrainTimes = { acceptMs: 5_000, finishMs: 100_000 };
/** For the answers of those who waited in vain. */
const ANSWER_MS = 1_000;
const LOOK_EVERY_MS = 250;

export interface DrainParams extends DrainTimes {
  clock: Clock;
  server: Server;
  slots: Pick<Slots, "dismiss">;
  /** Streams of events, which never end by themselves and go on elsewhere after a break. */
  endless: ReadonlySet<ServerResponse>;
}

/** Ends a server without losing anybody who can still be answered. */
export async function drain(params: DrainParams): Promise<void> {
  const { clock, server, slots, endless, acceptMs, finishMs } = params;
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  if (acceptMs > 0) await pause(acceptMs);
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      isClosed = true;
      resolve();
    });
  });
  for (const response of endless) response.destroy();
  const untilMs = clock.now() + finishMs;
  const isOver = () => isClosed || clock.now() >= untilMs;
  while (!isOver()) {
    // Connections whose last answer has ended would stay for the next one.
    server.closeIdleConnections();
    await Promise.race([closed, pause(LOOK_EVERY_MS)]);
  }
  if (isClosed) return;
  slots.dismiss(endingError());
  await Promise.race([closed, pause(ANSWER_MS)]);
  server.closeAllConnections();
  await closed;
}

/** Of a gateway that was told to end; whoever gets it may ask again at once. */
export function endingError(): SpotterError {
  return new SpotterError("endpoint_not_ready", "This gateway is ending.", {
    hint: "Ask again: another gateway takes over.",
  });
}
