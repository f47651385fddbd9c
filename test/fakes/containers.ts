import type { Containers, ContainerSpec, ContainerState } from "../../functions/ports/containers.ts";

export interface FakeContainers extends Containers {
  /** Every container that was launched, in order. */
  readonly launched: ContainerSpec[];
  /** Containers that were asked to stop. */
  readonly stopped: string[];
  /** Puts a container into a state and tells the listeners. */
  set(jobId: string, state: ContainerState): void;
  /** Forgets a container without a word, as after a crash of the machine. */
  forget(jobId: string): Promise<void>;
  /** The next launches fail with this. */
  failLaunch(error: Error | undefined): void;
  environmentOf(jobId: string): ContainerSpec["environment"];
}

/** Containers that do nothing by themselves: a test says what happens to them. */
export function fakeContainers(first: ContainerState = { state: "running" }): FakeContainers {
  const states = new Map<string, { spec: ContainerSpec; state: ContainerState }>();
  const listeners = new Set<(jobId: string) => void>();
  const launched: ContainerSpec[] = [];
  const stopped: string[] = [];
  let failure: Error | undefined;

  function change(jobId: string, state: ContainerState): void {
    const known = states.get(jobId);
    if (known === undefined) throw new Error(`No container ${jobId}`);
    states.set(jobId, { ...known, state });
    for (const listener of listeners) listener(jobId);
  }

  return {
    launched,
    stopped,
    async launch(spec) {
      if (failure) throw failure;
      if (!states.has(spec.jobId)) {
        launched.push(spec);
        states.set(spec.jobId, { spec, state: first });
      }
      return { jobId: spec.jobId };
    },
    describe: async (jobId) => states.get(jobId)?.state ?? { state: "unknown" },
    async stop(jobId) {
      stopped.push(jobId);
      if (states.has(jobId)) change(jobId, { state: "exited", exitCode: null, reason: "done", logTail: [] });
    },
    list: async () =>
      [...states.values()]
        .filter(({ state }) => state.state !== "exited")
        .map(({ spec }) => ({ jobId: spec.jobId, kind: spec.kind })),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    logs: async (jobId) => (states.has(jobId) ? [`line of ${jobId}`] : []),
    close: async () => listeners.clear(),
    set: change,
    forget: async (jobId) => void states.delete(jobId),
    failLaunch: (error) => void (failure = error),
    environmentOf(jobId) {
      const found = launched.findLast((spec) => spec.jobId === jobId);
      if (found === undefined) throw new Error(`${jobId} was not launched`);
      return found.environment;
    },
  };
}
