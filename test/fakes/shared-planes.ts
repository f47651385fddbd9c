import { createControlPlane, type ControlPlane } from "../../functions/app.ts";
import type { Deps } from "../../functions/deps.ts";
import { systemIds } from "../../functions/system/system-ids.ts";
import type { Clock } from "../../functions/ports/clock.ts";
import type { Store } from "../../functions/ports/store.ts";
import { sha256Of } from "../../functions/records/hash.ts";
import { fakeClock, type FakeClock } from "./clock.ts";
import { fakeContainers, type FakeContainers } from "./containers.ts";
import { ADMIN_KEY } from "./control-plane.ts";
import { fakeIsolates } from "./isolates.ts";
import { memoryBlobs } from "./memory-blobs.ts";
import { memoryStore } from "./memory-store.ts";

/** One process of several. */
export interface SharedPlane extends ControlPlane {
  deps: Deps;
  /** What it asked others to do. */
  wakes: string[];
  complaints: string[];
  /** Lines at level info, with their fields. */
  told: { message: string; fields: Record<string, unknown> }[];
  containers: FakeContainers;
  /** Calls of the Store so far. */
  storeCalls(): number;
  /** The Store cannot be reached from here, or can again. */
  setAway(isAway: boolean): void;
  /** Its clock is so far from the others'. */
  setSkewMs(skewMs: number): void;
  /** Ends it without a word, as kill -9 does. */
  kill(): void;
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Response>;
  json<T>(method: string, path: string, body?: unknown, token?: string | null): Promise<T>;
}

export interface SharedWorld {
  store: Store;
  clock: FakeClock;
  containers: FakeContainers;
  open(options?: SharedPlaneOptions): SharedPlane;
  /** Time passes for all, a tenth of a second after the other, and what falls due gets its turn. */
  pass(ms: number): Promise<void>;
}

export interface SharedPlaneOptions {
  readsAtUse?: boolean;
  config?: Partial<Deps["config"]>;
}

/** Processes over one Store. */
export function sharedWorld(onEnd: (end: () => Promise<void>) => void, store = memoryStore()): SharedWorld {
  const clock = fakeClock(1_800_000_000_000);
  const containers = fakeContainers();
  const blobs = memoryBlobs();
  return {
    store,
    clock,
    containers,
    open: (options) => open(onEnd, { store, blobs, clock, containers }, options),
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        await new Promise(setImmediate);
      }
    },
  };
}

function open(
  onEnd: (end: () => Promise<void>) => void,
  world: Pick<SharedWorld, "store" | "clock" | "containers"> & Pick<Deps, "blobs">,
  { readsAtUse, config }: SharedPlaneOptions = {},
): SharedPlane {
  const link = linkTo(world.store);
  const own = clockOf(world.clock);
  const wakes: string[] = [];
  const complaints: string[] = [];
  const told: SharedPlane["told"] = [];
  const complain = (message: string, fields?: Record<string, unknown>) =>
    void complaints.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const deps: Deps = {
    store: link.store,
    blobs: world.blobs,
    secrets: {
      set: async () => {},
      list: async () => [],
      remove: async () => {},
      resolve: async () => ({}),
      redact: (text) => text,
    },
    containers: world.containers,
    isolates: fakeIsolates(),
    clock: own.clock,
    ids: systemIds(),
    log: {
      debug: () => {},
      info: (message, fields = {}) => void told.push({ message, fields }),
      warn: complain,
      error: complain,
    },
    shared: { maxAgeMs: 2_000, ...(readsAtUse && { readsAtUse }), wake: (what) => void wakes.push(what) },
    config: {
      version: "0.0.0-test",
      publicUrl: () => "http://127.0.0.1:7717",
      home: "memory:",
      threads: 2,
      heartbeatEveryMs: 1_000,
      leaseMs: 3_600_000,
      maxAttempts: 3,
      notes: [],
      ...config,
    },
  };
  const plane = createControlPlane(deps, {
    rootKeyHash: sha256Of(ADMIN_KEY),
    probe: async () => true,
    send: async () => "nobody is there",
    shutdown: () => {},
  });
  onEnd(async () => {
    link.setAway(false);
    await plane.close();
  });

  async function call(method: string, path: string, body?: unknown, token: string | null = ADMIN_KEY) {
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const isRaw = body instanceof Uint8Array || typeof body === "string";
    if (body !== undefined && !isRaw) headers["content-type"] = "application/json";
    return plane.app.request(path, {
      method,
      headers,
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
  }

  return {
    ...plane,
    deps,
    wakes,
    complaints,
    told,
    containers: world.containers,
    storeCalls: link.calls,
    setAway: link.setAway,
    setSkewMs: own.setSkewMs,
    kill() {
      own.stop();
      link.setAway(true);
    },
    call,
    async json<T>(method: string, path: string, body?: unknown, token?: string | null): Promise<T> {
      const response = await call(method, path, body, token);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as T;
    },
  };
}

function linkTo(store: Store): { store: Store; calls: () => number; setAway: (isAway: boolean) => void } {
  let isAway = false;
  let calls = 0;
  const linked = new Proxy(store, {
    get(target, name) {
      const methods = target as unknown as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;
      return async (...args: unknown[]) => {
        calls++;
        if (isAway) throw new Error("The Store is away.");
        return methods[name]?.(...args);
      };
    },
  });
  return { store: linked, calls: () => calls, setAway: (away) => void (isAway = away) };
}

/** The world's time, seen from a process whose clock is off; timers run at the right pace. */
function clockOf(world: FakeClock): { clock: Clock; setSkewMs: (ms: number) => void; stop: () => void } {
  let skewMs = 0;
  let isStopped = false;
  const clock: Clock = {
    now: () => world.now() + skewMs,
    after: (ms, callback) => world.after(ms, () => !isStopped && callback()),
  };
  return { clock, setSkewMs: (ms) => void (skewMs = ms), stop: () => void (isStopped = true) };
}
