import type { ScalingSettings } from "../../sdk/schema/scaling.ts";
import type { RequestRecord } from "../../functions/observability/observer.ts";
import { ADMIN_KEY, testPlane, type TestPlane } from "./control-plane.ts";
import { fakeEngine, type FakeEngine, type Script } from "./engine/engine.ts";
import { fakeJob, type FakeJob } from "./job.ts";
import { listening } from "./listening.ts";

type OnEnd = (end: () => Promise<void>) => void;

/** How a test asks: through the app as any host would, or over a socket as the daemon's clients do. */
export type Host = "app" | "node";
export const HOSTS: Host[] = ["app", "node"];
export const CHAT = "/v1/chat/completions";
/** A book of load with every slot back. */
export const FREE = { inFlight: 0, queued: 0 };

export interface Served {
  plane: TestPlane;
  engines: FakeEngine[];
  /** URL of the Node server, without a path. */
  base: string;
  /** Requests that are over, as the log and the metrics see them. */
  records: RequestRecord[];
  /** Sends a chat request for endpoint "base", as the admin. */
  chat(
    host: Host,
    body?: object,
    init?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  /** Brings up the replica of this number, counted from 1. Default address: of the engine with its number. */
  bringUp(number: number, address?: string): Promise<void>;
  /** What the book of load says; 0 and 0 once every slot is back. */
  load(): { inFlight: number; queued: number };
  /** Seconds pass on the plane's clock, and what falls due gets its turn. */
  pass(seconds: number): Promise<void>;
}

export interface ServedParams {
  onEnd: OnEnd;
  /** One replica each. */
  scripts: Script[];
  scaling?: ScalingSettings;
  /** Default true: replicas are up when this resolves. */
  isUp?: boolean;
}

/** An endpoint "base" whose replicas are fake engines, behind the whole gateway. */
export async function served({ onEnd, scripts, scaling, isUp = true }: ServedParams): Promise<Served> {
  // A replica that is not to come up yet waits for room, so that time may pass without a lease running out.
  const plane = await testPlane({
    onEnd,
    ...(!isUp && { firstState: { state: "waiting", reason: "capacity" } as const }),
  });
  const engines = await Promise.all(scripts.map((script) => fakeEngine(onEnd, script)));
  const base = await listening(plane, onEnd);
  const records: RequestRecord[] = [];
  plane.control.observer.add({
    ended: (record) => void (record.route.startsWith("/v1/") && records.push(record)),
  });
  const count = engines.length;
  await plane.json("POST", "/endpoints", {
    model: { name: "spotter/nano" },
    name: "base",
    scaling: { min: count, max: count, ...scaling },
  });
  await plane.reconciler.settle();
  const up: FakeJob[] = [];
  const bringUp = async (number: number, address = engines[number - 1]?.address) => {
    const id = `serve-base-r1-${number}`;
    plane.containers.set(id, { state: "running" });
    const job = fakeJob(plane, id, number);
    await job.heartbeat();
    await job.report({ type: "ready", address });
    await plane.reconciler.settle();
    up.push(job);
  };
  if (isUp) for (let number = 1; number <= count; number++) await bringUp(number);
  return {
    plane,
    engines,
    base,
    records,
    bringUp,
    async chat(host, body = {}, { headers, signal } = {}) {
      const init = {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "base", messages: [{ role: "user", content: "hi" }], ...body }),
        ...(signal && { signal }),
      };
      return host === "app" ? plane.app.request(CHAT, init) : fetch(base + CHAT, init);
    },
    async pass(seconds) {
      for (let passed = 0; passed < seconds; passed++) {
        plane.clock.advance(1_000);
        // Leases of replicas that live must not run out.
        if (passed % 5 === 0) for (const job of up) await job.heartbeat();
        await new Promise(setImmediate);
      }
    },
    load() {
      const { inFlight, queued } = plane.control.load.snapshot("base");
      return { inFlight, queued };
    },
  };
}

/** One endpoint for many tests of a file; `play` is what its engine does next, `close` ends everything. */
export async function servedOnce(): Promise<
  Served & { play: (script: Script) => void; close: () => Promise<void> }
> {
  const ends: (() => Promise<void>)[] = [];
  let current: Script = () => ({ steps: [] });
  const onEnd = (end: () => Promise<void>) => void ends.push(end);
  const gym = await served({ onEnd, scripts: [(request) => current(request)] });
  return {
    ...gym,
    play(script) {
      current = script;
      gym.records.length = 0;
      for (const { requests } of gym.engines) requests.length = 0;
    },
    async close() {
      for (const end of ends.reverse()) await end();
    },
  };
}
