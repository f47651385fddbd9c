import { SpotterError } from "../../sdk/schema/errors.ts";
import { timerMs } from "../../sdk/schema/timer-ms.ts";

export interface Stop extends Disposable {
  signal: AbortSignal;
}

/** Aborted by any of the signals, or with `timeout` when `durationMs` have passed. */
export function stopSignal(signals: AbortSignal[], durationMs: number | undefined): Stop {
  if (durationMs === undefined)
    return { signal: AbortSignal.any(signals), [Symbol.dispose]: () => undefined };
  const limit = new AbortController();
  let timer: NodeJS.Timeout;
  wait(durationMs, outOfTime(durationMs));
  return {
    signal: AbortSignal.any([...signals, limit.signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  };

  /** In as many timers as a long time takes. */
  function wait(leftMs: number, reason: SpotterError): void {
    const ms = timerMs(leftMs);
    timer = setTimeout(() => {
      if (ms < leftMs) wait(leftMs - ms, reason);
      else limit.abort(reason);
    }, ms);
  }
}

/** The promise's outcome, or the signal's reason if that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function outOfTime(durationMs: number): SpotterError {
  return new SpotterError(
    "timeout",
    `The run took longer than its limit of ${Math.round(durationMs / 1000)} s.`,
    {
      where: "limits.durationMs",
      hint: "Its last checkpoint is kept: start a run from it to continue, or raise the limit.",
    },
  );
}
