import type { LambdaClient } from "@aws-sdk/client-lambda";
import { MAX_INVOCATION_BYTES } from "../isolate-host/invocation.ts";
import { createIsolates } from "../isolate-host/isolates.ts";
import type { IsolateProcess, StartParams } from "../isolate-host/isolate.ts";
import type { Isolates } from "../ports/isolates.ts";
import { functionName } from "./lambda-isolates/function-name.ts";
import { ensureFunction } from "./lambda-isolates/functions.ts";
import { lambdaProcess } from "./lambda-isolates/lambda-process.ts";
import type { LambdaContext, LambdaIsolatesParams } from "./lambda-isolates/params.ts";
import { lazy, loadClient, type Lazy } from "./load-client.ts";

export type { LambdaIsolatesParams } from "./lambda-isolates/params.ts";

/** Leaves room for the names of exports and the secrets, which are sent with every call. */
const MAX_ROWS_BYTES = MAX_INVOCATION_BYTES - 512 * 1024;
/** Open lanes are only bookkeeping here: Lambda keeps and ends its environments by itself. */
const IDLE_TIMEOUT_MS = 60_000;

export const OPEN_NETWORK =
  "user code on Lambda runs in Lambda's own network: allowed hosts are enforced within its process only, not around it; choose isolated subnets for code you do not trust";
export const CALLED_OFF =
  "a call of user code that is given up goes on in Lambda, and costs, until its own time limit";

export interface LambdaIsolates extends Isolates {
  /** What this home does not enforce, for `spotter status` and preflight. */
  readonly notes: string[];
}

/**
 * User code in Lambda functions: one for each bundle and its grants, made when it is first loaded, with a role
 * that has no rights and without environment variables. Secrets are part of each invocation.
 *
 * globalThis lives as long as an execution environment, of which there may be several at once.
 */
export function createLambdaIsolates(params: LambdaIsolatesParams): LambdaIsolates {
  const { loadTimeoutMs = 10_000, maxConcurrency = 8, onMessage = () => {} } = params;
  const client = lazyClient(params);
  const context: LambdaContext = {
    params,
    memoryMiB: params.memoryMiB ?? 256,
    loadTimeoutMs,
    functionTimeoutS: params.functionTimeoutS ?? 900,
    patienceMs: params.patienceMs ?? 60_000,
    client: client.get,
    now: params.now ?? Date.now,
  };
  const isolates = createIsolates({
    start: starter(context),
    loadTimeoutMs,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    onMessage,
    maxLanes: maxConcurrency,
    maxRowsBytes: MAX_ROWS_BYTES,
  });
  return {
    notes: [...(params.network ? [] : [OPEN_NETWORK]), CALLED_OFF],
    load: isolates.load,
    async close() {
      await isolates.close();
      (await client.take())?.destroy();
    },
  };
}

/**
 * Asks each function once what it exports: code never changes, so a lane that starts anew after a failure, or a
 * further one, needs no call of its own.
 */
function starter(context: LambdaContext): (params: StartParams) => Promise<IsolateProcess> {
  const ready = new WeakMap<StartParams["bundle"], Promise<string>>();
  const described = new WeakMap<StartParams["bundle"], { status: number; json: unknown }>();
  return async ({ code, bundle, onOutput }) => {
    const name = await (ready.get(bundle) ?? remember(ready, bundle, makeReady(code, bundle)));
    const started = lambdaProcess({ name, code, bundle, onOutput, context });
    return {
      get isAlive() {
        return started.isAlive;
      },
      end: () => started.end(),
      async request(body, timeoutMs, signal) {
        const known = body === undefined ? described.get(bundle) : undefined;
        if (known) return known;
        const answer = await started.request(body, timeoutMs, signal);
        if (body === undefined && answer.status === 200) described.set(bundle, answer);
        return answer;
      },
    };
  };

  async function makeReady(code: string, bundle: StartParams["bundle"]): Promise<string> {
    const name = await functionName(bundle, context);
    await ensureFunction(name, { code, bundle }, context);
    return name;
  }
}

/** Failures are not remembered. */
function remember<K extends object, T>(map: WeakMap<K, Promise<T>>, key: K, work: Promise<T>): Promise<T> {
  map.set(key, work);
  work.catch(() => map.delete(key));
  return work;
}

function lazyClient({ client }: LambdaIsolatesParams): Lazy<LambdaClient> {
  return lazy(async () => {
    const { LambdaClient } = await loadClient(
      "@aws-sdk/client-lambda",
      () => import("@aws-sdk/client-lambda"),
    );
    // What is refused is repeated here, where it is known for how long that is worth it.
    return new LambdaClient({ maxAttempts: 1, ...client });
  });
}
