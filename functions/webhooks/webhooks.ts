import type { Control } from "../control.ts";
import { createWorkLoop, type WorkLoop } from "../records/work-loop.ts";
import { collect } from "../records/update.ts";
import { changeRun, RUNS, type Delivery, type RunDocument } from "../runs/records.ts";
import type { Send } from "./send.ts";

/** About an hour and a half: 1 s, doubling to 15 minutes. */
const MAX_TRIES = 16;
const BASE_MS = 1_000;
const LONGEST_MS = 15 * 60_000;
/** Addresses asked at the same time. */
const PARALLEL = 8;
const AGAIN_AFTER_FAULT_MS = 30_000;

/** Sends what is due, soon after each wake. */
export type Webhooks = Omit<WorkLoop, "isBusy" | "isClosed">;

interface Due {
  runId: string;
  delivery: Delivery;
}

/**
 * Tells the world what became of runs, apart from the runs themselves: a receiver that is slow or away holds
 * nobody up. What is to be told lies in the run's document until it was received or given up.
 */
export function createWebhooks(control: Control, send: Send): Webhooks {
  const loop = createWorkLoop(control.clock, pass, (error) => {
    control.log.error("webhooks could not be looked at", { error });
    return AGAIN_AFTER_FAULT_MS;
  });

  /** Sends what is due. Resolves to the time until the next is, if any. */
  async function pass(): Promise<number | undefined> {
    const documents = await collect<RunDocument>((after) =>
      control.store.queryIndex<RunDocument>("webhooks", RUNS, { after, limit: 1000 }),
    );
    const all = documents.flatMap(({ run: { id }, deliveries = [] }) =>
      deliveries.map((delivery): Due => ({ runId: id, delivery })),
    );
    const nowMs = control.clock.now();
    const due = all.filter(({ delivery }) => delivery.nextAtMs <= nowMs);
    const work = async (): Promise<void> => {
      for (let next = due.shift(); next !== undefined && !loop.isClosed; next = due.shift())
        await attempt(next);
    };
    if (due.length > 0) {
      await Promise.all(Array.from({ length: PARALLEL }, work));
      loop.wake();
      return undefined;
    }
    const times = all.map(({ delivery }) => delivery.nextAtMs);
    return times.length === 0 ? undefined : Math.max(1, Math.min(...times) - nowMs);
  }

  async function attempt({ runId, delivery }: Due): Promise<void> {
    const nowMs = control.clock.now();
    const failed = await sendSigned(delivery, nowMs);
    const tries = delivery.tries + 1;
    const isOver = failed === undefined || tries >= MAX_TRIES;
    const host = new URL(delivery.url).host;
    if (failed !== undefined) control.log.warn("webhook was not received", { runId, host, tries, failed });
    const nextAtMs = nowMs + Math.min(LONGEST_MS, BASE_MS * 2 ** delivery.tries);
    await changeRun(control, runId, ({ deliveries = [], ...document }) => {
      if (!deliveries.some(({ id }) => id === delivery.id)) return undefined;
      const left = deliveries.flatMap((each) =>
        each.id !== delivery.id ? [each] : isOver ? [] : [{ ...each, tries, nextAtMs }],
      );
      const message = `${host} did not take the ${delivery.event} webhook, ${tries} times: ${failed}`;
      return {
        document: { ...document, ...(left.length > 0 && { deliveries: left }) },
        events: isOver && failed !== undefined ? [{ type: "log", level: "warn", message }] : [],
      };
    });
  }

  async function sendSigned(delivery: Delivery, nowMs: number): Promise<string | undefined> {
    if (delivery.secret === undefined) return send(delivery, undefined, nowMs);
    try {
      const values = await control.secrets.resolve([delivery.secret]);
      return await send(delivery, values[delivery.secret], nowMs);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  return loop;
}
