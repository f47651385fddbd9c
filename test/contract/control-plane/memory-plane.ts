import { createControlPlane, type ControlPlane } from "../../../functions/app.ts";
import { systemIds } from "../../../functions/system/system-ids.ts";
import { sha256Of } from "../../../functions/records/hash.ts";
import { fakeClock } from "../../fakes/clock.ts";
import { fakeContainers } from "../../fakes/containers.ts";
import { fakeIsolates } from "../../fakes/isolates.ts";
import { memoryBlobs } from "../../fakes/memory-blobs.ts";
import { memoryStore } from "../../fakes/memory-store.ts";

export const ADMIN_KEY = "sk-spotter-admin-of-this-matrix";

/** A control plane over ports that need no machine: it runs wherever JavaScript does. */
export function memoryPlane(): ControlPlane {
  const deps: Parameters<typeof createControlPlane>[0] = {
    store: memoryStore(),
    blobs: memoryBlobs(),
    secrets: {
      set: async () => {},
      list: async () => [],
      remove: async () => {},
      resolve: async () => ({}),
      redact: (text) => text,
    },
    containers: fakeContainers(),
    isolates: fakeIsolates(),
    clock: fakeClock(),
    ids: systemIds(),
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    config: {
      version: "0.0.0-test",
      publicUrl: () => "http://127.0.0.1:7717",
      home: "memory:",
      threads: 2,
      heartbeatEveryMs: 1_000,
      leaseMs: 10_000,
      maxAttempts: 3,
      notes: [],
    },
  };
  return createControlPlane(deps, {
    rootKeyHash: sha256Of(ADMIN_KEY),
    probe: async () => true,
    shutdown: () => {},
  });
}
