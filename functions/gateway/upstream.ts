import type { Dispatcher } from "undici";
import { SpotterError } from "../../sdk/schema/errors.ts";

/** Connections to replicas. Answers may take as long as they take: the client decides when to give up. */
export interface Upstreams {
  post(params: UpstreamRequest): Promise<Dispatcher.ResponseData>;
  /** Loads what the first request needs, in the background. */
  warm(): void;
  /** Whether a replica answers its model list. */
  probe(address: string, accessKey: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface UpstreamRequest {
  address: string;
  path: string;
  body: Uint8Array | string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

const PROBE_TIMEOUT_MS = 2_000;

export function createUpstreams(): Upstreams {
  // Loaded with the first request: a daemon that starts has none yet, and undici is a fifth of its start.
  let loaded: ReturnType<typeof loadUndici> | undefined;
  const load = () => (loaded ??= loadUndici());
  return {
    warm: () => void load(),
    async post({ address, path, body, headers, signal }) {
      const { request, agent } = await load();
      try {
        return await request(`http://${address}${path}`, {
          method: "POST",
          body,
          headers,
          signal,
          dispatcher: agent,
        });
      } catch (cause) {
        if (signal.aborted) throw new SpotterError("user_cancelled", "The client went away.", { cause });
        throw new SpotterError("container_failed", "The replica did not answer.", {
          where: "model",
          hint: "It is restarted by itself; try again in a few seconds.",
          status: 502,
          retryable: true,
          cause,
        });
      }
    },
    async probe(address, accessKey) {
      try {
        const { request, agent } = await load();
        const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
        const { statusCode, body } = await request(`http://${address}/v1/models`, {
          dispatcher: agent,
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
      await (await loaded)?.agent.destroy();
    },
  };
}

async function loadUndici() {
  const { Agent, request } = await import("undici");
  const agent = new Agent({ connections: 512, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return { request, agent };
}
