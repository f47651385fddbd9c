import { createHash } from "node:crypto";
import type { IsolateBundle, IsolateHandle } from "../ports/isolates.ts";
import { BATCH_ROWS, batchesOf, runRows } from "./batch.ts";
import { Isolate, type IsolateSettings } from "./isolate.ts";
import { Lanes } from "./lanes.ts";

export interface OpenIsolates {
  /** Processes alive now. */
  readonly running: number;
  load: (bundle: IsolateBundle) => Promise<IsolateHandle>;
  close: () => Promise<void>;
}

export interface IsolatesParams extends Omit<IsolateSettings, "live" | "isClosed"> {
  /** Most processes of the same bundle. Default 1. */
  maxLanes?: number;
  /** Of the rows of one request, where the runtime has a limit. */
  maxRowsBytes?: number;
}

/** Isolates on any runtime that can be started: processes of their own for each bundle and its grants. */
export function createIsolates({ maxLanes = 1, maxRowsBytes, ...params }: IsolatesParams): OpenIsolates {
  const live = new Set<Isolate>();
  let isClosed = false;
  const settings: IsolateSettings = { ...params, live, isClosed: () => isClosed };
  const opening = new Map<string, Promise<IsolateHandle>>();
  // Weak: a bundle of some megabytes stays in memory while somebody may call it, not for ever.
  const opened = new Map<string, WeakRef<IsolateHandle>>();
  return {
    get running() {
      return [...live].filter((isolate) => isolate.isRunning).length;
    },
    async load(bundle) {
      const key = identity(bundle);
      const known = opened.get(key)?.deref() ?? opening.get(key);
      if (known) return known;
      for (const [each, handle] of opened) if (!handle.deref()) opened.delete(each);
      const start = openHandle(
        new Lanes({ create: () => new Isolate(bundle, settings), max: maxLanes }),
        maxLanes,
        maxRowsBytes,
      );
      opening.set(key, start);
      try {
        const handle = await start;
        opened.set(key, new WeakRef(handle));
        return handle;
      } finally {
        // Code that does not load is not remembered: it may have been the machine's fault.
        opening.delete(key);
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...live].map((isolate) => isolate.close()));
    },
  };
}

async function openHandle(
  lanes: Lanes<Isolate>,
  maxLanes: number,
  maxRowsBytes: number | undefined,
): Promise<IsolateHandle> {
  const isolate = lanes.first;
  await isolate.start();
  isolate.rest();
  const callAll: IsolateHandle["callAll"] = (exportNames, rows, options) =>
    runRows(lanes, exportNames, batchesOf(rows, maxRowsBytes), options);
  return {
    get exports() {
      return isolate.exports;
    },
    get others() {
      return isolate.others;
    },
    rowsPerTurn: maxLanes * BATCH_ROWS,
    callAll,
    call: async (exportName, rows, options) => (await callAll([exportName], rows, options))[0] ?? [],
  };
}

/** Secrets and hosts are part of it: code with a grant never shares memory with code without. */
function identity({ sha256, secrets, allowHosts = [] }: IsolateBundle): string {
  const grants = JSON.stringify([Object.entries(secrets).sort(), [...allowHosts].sort()]);
  return createHash("sha256").update(sha256).update(grants).digest("hex");
}
