import type { JobClient } from "../agent.ts";
import type { RunPhase } from "../../sdk/schema/run.ts";

/** Phases that come by several times a second in a fast loop. */
const HOT: readonly RunPhase[] = ["generate", "score", "train", "sync-weights"];

/** Reports phases and metrics; heartbeats carry the same. */
export interface Progress {
  phase(phase: RunPhase, current?: number, total?: number): void;
  metrics(step: number, metrics: Record<string, number>): void;
  /** Drops the phase that waits, if any. */
  close(): void;
}

/**
 * At most one hot phase leaves per `quietMs`; the last one always does, so what is shown during a long
 * phase is that phase. Rare phases leave at once.
 */
export function createProgress(client: Pick<JobClient, "report" | "setProgress">, quietMs = 400): Progress {
  let waiting: (() => void) | undefined;
  /** The phase that left last, with its counts. */
  let told = "";
  let timer: NodeJS.Timeout | undefined;

  function elapsed(): void {
    timer = undefined;
    const next = waiting;
    waiting = undefined;
    if (next === undefined) return;
    next();
    timer = setTimeout(elapsed, quietMs);
  }

  return {
    phase: (phase, current, total) => {
      client.setProgress({ phase });
      const counts = {
        ...(current === undefined ? {} : { current }),
        ...(total === undefined ? {} : { total }),
      };
      const event = { type: "phase", phase, ...counts } as const;
      const leave = (): void => {
        // Who waits says so again and again; it is news once.
        const text = JSON.stringify(event);
        if (text !== told) client.report({ type: "run", event });
        told = text;
      };
      if (HOT.includes(phase) && timer !== undefined) {
        waiting = leave;
        return;
      }
      waiting = undefined;
      leave();
      timer ??= setTimeout(elapsed, quietMs);
    },
    metrics: (step, metrics) => {
      client.setProgress({ step });
      client.report({ type: "run", event: { type: "metrics", step, metrics: finite(metrics) } });
    },
    close: () => {
      clearTimeout(timer);
      timer = undefined;
      waiting = undefined;
    },
  };
}

/** JSON has no NaN: a metric that is not a number is absent. */
export function finite(metrics: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
}
