import type { Shared } from "../../deps.ts";
import { loadClient, REQUEST_TIMES } from "../load-client.ts";
import type { AdapterContext } from "./adapter.ts";

type Wakeable = Parameters<Shared["wake"]>[0];

interface Wake {
  /** Asks for a look soon, at once. What is asked while that is on its way is one more. */
  wake(what: Wakeable): void;
  /** Resolves when all asking is done: what a function has begun stands still once it has answered. */
  flush(): Promise<void>;
}

/**
 * Wakes by asynchronous invocations. One that fails is only logged: the schedule comes within a minute, and what
 * there is to do has been written down.
 */
export function createWake({ settings, log }: Pick<AdapterContext, "settings" | "log">): Wake {
  const { SPOTTER_RECONCILER_FUNCTION: reconciler, SPOTTER_SCALER_FUNCTION: scaler } = settings;
  const names: Record<Wakeable, string | undefined> = {
    reconciler,
    webhooks: reconciler,
    autoscaler: scaler,
  };
  const again = new Set<string>();
  const asking = new Map<string, Promise<void>>();
  let loading: ReturnType<typeof load> | undefined;

  async function invoke(name: string): Promise<void> {
    try {
      while (again.delete(name)) await (await (loading ??= load()))(name);
    } catch (error) {
      again.delete(name);
      loading = undefined;
      log.error("a function was not woken", { function: name, error });
    } finally {
      asking.delete(name);
    }
  }

  return {
    wake(what) {
      const name = names[what];
      if (name === undefined) return;
      again.add(name);
      if (!asking.has(name)) asking.set(name, invoke(name));
    },
    async flush() {
      while (asking.size > 0) await Promise.all(asking.values());
    },
  };
}

async function load(): Promise<(name: string) => Promise<unknown>> {
  const sdk = await loadClient("@aws-sdk/client-lambda", () => import("@aws-sdk/client-lambda"));
  const client = new sdk.LambdaClient({ requestHandler: REQUEST_TIMES });
  const Payload = JSON.stringify({ source: "spotter.wake" });
  return (FunctionName) =>
    client.send(new sdk.InvokeCommand({ FunctionName, InvocationType: "Event", Payload }));
}
