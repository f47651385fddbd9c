import { vi } from "vitest";
import { createControlPlane, type ControlPlane } from "../../../../functions/app.ts";
import type { Deps } from "../../../../functions/deps.ts";
import { noteLeaving } from "../../../../functions/jobs/records.ts";
import { systemIds } from "../../../../functions/system/system-ids.ts";
import type { Store } from "../../../../functions/ports/store.ts";
import { sha256Of } from "../../../../functions/records/hash.ts";
import type { Endpoint } from "../../../../sdk/schema/endpoint.ts";
import type { RunDetail } from "../../../../sdk/schema/run.ts";
import type { RunSpecInput } from "../../../../sdk/schema/run-spec.ts";
import type { FakeAwsOptions, FakeContainer } from "../../../fakes/aws/index.ts";
import { fakeIsolates } from "../../../fakes/isolates.ts";
import { memoryBlobs } from "../../../fakes/memory-blobs.ts";
import { memoryStore } from "../../../fakes/memory-store.ts";
import { preparedSpec } from "../../../fakes/run-spec.ts";
import type { AwsContainers } from "../../../../functions/aws/aws-containers.ts";
import type { AwsContainersParams } from "../../../../functions/aws/aws-containers/params.ts";
import { gym, PARAMS, silent, type Gym } from "../gym.ts";

// Hours of virtual time are hundreds of looks at AWS over HTTP, however fast the machine.
vi.setConfig({ testTimeout: 30_000 });

const ADMIN_KEY = "sk-spotter-admin-of-this-test";
export const LEASE_MS = 60_000;
export const MINUTE_MS = 60_000;
/** Shorter than the gap after which the reconciler takes itself to have been away. */
const STEP_MS = 15_000;

export interface AwsPlane extends Gym {
  plane: ControlPlane;
  store: Store;
  json<T>(method: string, path: string, body?: unknown, token?: string): Promise<T>;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Response>;
  /** Virtual time, with everything that falls due. Containers that `beat` keep their leases. */
  pass(ms: number): Promise<void>;
  /** Time passes until this is so. */
  until(reached: () => unknown, withinMs?: number): Promise<void>;
  /** Its heartbeats and reports, as the program in the container sends them. */
  job(container: FakeContainer): Job;
  endpoint(): Promise<Endpoint>;
  run(id: string): Promise<RunDetail["run"]>;
  launchRun(changes?: Partial<RunSpecInput>): Promise<string>;
  launchEndpoint(changes?: object): Promise<void>;
  /** The process dies; another one goes on over the same store and the same AWS, a while later. */
  restart(awayMs?: number): Promise<void>;
}

export interface Job {
  id: string;
  attempt: number;
  beat(): Promise<boolean>;
  report(...bodies: object[]): Promise<void>;
  save(step: number): Promise<void>;
}

export async function awsPlane(
  onEnd: (end: () => Promise<void>) => void,
  params: AwsContainersParams,
  world: Partial<FakeAwsOptions> = {},
): Promise<AwsPlane> {
  const base = await gym(onEnd, world, { freshMs: 1, params });
  const { aws } = base;
  const store = memoryStore();
  const blobs = memoryBlobs();
  const beating = new Map<string, Job>();
  let { plane, close } = open(base.containers);
  onEnd(() => close());
  base.leaving((jobIds) => noteLeaving(plane.control, jobIds));

  function open(containers: AwsContainers): { plane: ControlPlane; close: () => Promise<void> } {
    const deps: Deps = {
      store,
      blobs,
      containers,
      secrets: {
        set: async () => {},
        list: async () => [],
        remove: async () => {},
        resolve: async () => ({}),
        redact: (text) => text,
      },
      isolates: fakeIsolates(),
      clock: aws.clock,
      ids: systemIds(),
      log: silent,
      config: {
        version: "0.0.0-test",
        publicUrl: () => "http://127.0.0.1:7717",
        home: "aws:",
        threads: 2,
        heartbeatEveryMs: 10_000,
        leaseMs: LEASE_MS,
        maxAttempts: 3,
        notes: [],
      },
    };
    const opened = createControlPlane(deps, {
      rootKeyHash: sha256Of(ADMIN_KEY),
      probe: async () => true,
      send: async () => "nobody is there",
      shutdown: () => {},
    });
    let closing: Promise<void> | undefined;
    // What stops looks again in virtual time, which must go on until then.
    return { plane: opened, close: () => (closing ??= base.passUntil(opened.close())) };
  }

  async function call(method: string, path: string, body?: unknown, token = ADMIN_KEY): Promise<Response> {
    const isRaw = typeof body === "string";
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined && !isRaw) headers["content-type"] = "application/json";
    const init = {
      method,
      headers,
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    };
    return plane.app.request(path, init);
  }

  async function json<T>(method: string, path: string, body?: unknown, token?: string): Promise<T> {
    const response = await call(method, path, body, token);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** What was set off has come to rest, or waits for time to pass. */
  async function rest(): Promise<void> {
    const isBusy = Symbol();
    for (let turn = 0; turn < 200; turn++) {
      const waited = new Promise((resolve) => setTimeout(() => resolve(isBusy), 3));
      if ((await Promise.race([plane.reconciler.settle(), waited])) !== isBusy) return;
      // A stop waits for virtual time; everything else is done within a few real milliseconds.
      if (turn >= 4) return;
    }
  }

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await aws.clock.advance(Math.min(STEP_MS, ms - passed));
      await rest();
      for (const [token, job] of beating) if (!(await job.beat())) beating.delete(token);
    }
  }

  const harness: AwsPlane = {
    ...base,
    get plane() {
      return plane;
    },
    store,
    call,
    json,
    pass,
    async until(reached, withinMs = 30 * MINUTE_MS) {
      await rest();
      for (let passed = 0; !(await reached()); passed += STEP_MS) {
        if (passed >= withinMs) throw new Error(`not reached within ${withinMs / MINUTE_MS} virtual minutes`);
        await pass(STEP_MS);
      }
    },
    job(container) {
      const token = container.run.environment["SPOTTER_JOB_TOKEN"] ?? "";
      const id = container.run.environment["SPOTTER_JOB_ID"] ?? "";
      const attempt = Number(/(\d+)$/.exec(id)?.[1]);
      let seq = 0;
      const job: Job = {
        id,
        attempt,
        async beat() {
          beating.set(token, job);
          if (container.exit !== undefined) return false;
          const response = await call("POST", `/jobs/${id}/heartbeat`, { attempt }, token);
          return response.ok;
        },
        async report(...bodies) {
          const events = bodies.map((body) => ({ seq: ++seq, body }));
          await json("POST", `/jobs/${id}/events`, { attempt, events }, token);
        },
        async save(step) {
          const content = `weights of step ${step} by attempt ${attempt}`;
          const files = [{ path: "model/w.safetensors", size: content.length, sha256: sha256Of(content) }];
          const path = `/jobs/${id}/checkpoints`;
          await json("POST", path, { attempt, step, kind: "full", files }, token);
          await call("PUT", `/jobs/${id}/uploads/${step}/model/w.safetensors`, content, token);
          await json("POST", `${path}/${step}/complete`, { attempt }, token);
        },
      };
      return job;
    },
    endpoint: () => json<Endpoint>("GET", "/endpoints/base"),
    run: async (id) => (await json<RunDetail>("GET", `/runs/${id}`)).run,
    async launchRun(changes = {}) {
      const spec = { ...(await preparedSpec({ json })), ...changes };
      const { run } = await json<RunDetail>("POST", "/runs", spec);
      await rest();
      return run.id;
    },
    async launchEndpoint(changes = {}) {
      await json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "base", ...changes });
      await rest();
    },
    async restart(awayMs = 0) {
      await close();
      await aws.clock.advance(awayMs);
      const containers = base.another();
      ({ plane, close } = open(containers));
      plane.reconciler.wake();
      await rest();
    },
  };
  return harness;
}

/** Only what a test needs: fewer queues are fewer calls for each look. */
export const SERVES: AwsContainersParams = { ...PARAMS, work: {} };
const L4 = { jobDefinition: "work-gpu", jobQueue: "work-gpu" };
export const TRAINS: AwsContainersParams = { ...PARAMS, work: { L4 } };
export const TRAINS_ON_CPU: AwsContainersParams = {
  ...PARAMS,
  work: { cpu: { jobDefinition: "work-cpu", jobQueue: "work-cpu" } },
};
export const TRAINS_ON_SPOT: AwsContainersParams = {
  ...PARAMS,
  work: { L4: { ...L4, jobQueue: "work-gpu-spot", spotJobQueue: "work-gpu-spot" } },
};
