import type { Dispatcher } from "undici";

/** Connections to replicas. Answers may take as long as they take: whoever asks decides when to give up. */
export interface Upstreams {
  /** Sends a request; the handler hears of everything that follows, errors included. */
  send(request: UpstreamRequest, handler: UpstreamHandler): void;
  /** Loads what the first request needs, in the background. */
  warm(): void;
  /** Whether a replica answers its model list. */
  probe(address: string, accessKey: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface UpstreamHandler extends Dispatcher.DispatchHandler {
  /** The request could not even be sent. */
  failed(error: unknown): void;
}

export interface UpstreamRequest {
  address: string;
  path: string;
  body: Uint8Array | string;
  /** Names and values in turn. */
  headers: string[];
}

const PROBE_TIMEOUT_MS = 2_000;
/** A machine that is gone does not refuse, it keeps silent. */
const CONNECT_TIMEOUT_MS = 5_000;

export function createUpstreams(): Upstreams {
  // Loaded with the first request: a daemon that starts has none yet, and undici is a fifth of its start.
  let loading: ReturnType<typeof loadUndici> | undefined;
  let agent: Dispatcher | undefined;
  const load = () =>
    (loading ??= loadUndici().then((loaded) => {
      agent = loaded.agent;
      return loaded;
    }));

  function dispatch(over: Dispatcher, request: UpstreamRequest, handler: UpstreamHandler): void {
    const { address, path, body, headers } = request;
    over.dispatch({ origin: `http://${address}`, method: "POST", path, body, headers }, handler);
  }

  return {
    send(request, handler) {
      if (agent !== undefined) return dispatch(agent, request, handler);
      load().then(
        (loaded) => dispatch(loaded.agent, request, handler),
        (error: unknown) => handler.failed(error),
      );
    },
    warm: () => void load(),
    async probe(address, accessKey) {
      try {
        const loaded = await load();
        const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
        const { statusCode, body } = await loaded.request(`http://${address}/v1/models`, {
          dispatcher: loaded.agent,
          signal,
          headers: { authorization: `Bearer ${accessKey}` },
        });
        await body.dump();
        return statusCode === 200;
      } catch {
        return false;
      }
    },
    async close() {
      await (await loading)?.agent.destroy();
    },
  };
}

async function loadUndici() {
  const { Agent, request } = await import("undici");
  const agent = new Agent({
    // How many there are at once is decided by the slots.
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  return { request, agent };
}
