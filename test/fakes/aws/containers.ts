import type { ContainerProperties } from "@aws-sdk/client-batch";
import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import type { FakeAwsClock } from "./clock.ts";

type StopSignal = "SIGTERM" | "SIGKILL";

/** What a container is started with, after overrides and secrets. */
export interface ContainerRun {
  kind: "task" | "job";
  /** Of the task or the job. */
  arn: string;
  /** Of the container in its definition; `default` for jobs. */
  name: string;
  environment: Record<string, string>;
  command: string[];
  /** Units of 1/1024 vCPU. */
  cpu: number | undefined;
  memoryMiB: number | undefined;
  gpus: number;
  /** Writes a line to the container's log stream. */
  log(line: string): void;
}

export interface ContainerExit {
  exitCode: number | null;
  signal?: string | null;
  /** Shown as the container's reason, e.g. `OutOfMemoryError: ...`. */
  reason?: string;
}

export interface StartedContainer {
  pid?: number;
  exited: Promise<ContainerExit>;
  stop(signal: StopSignal): void | Promise<void>;
  /** Host port by container port; the same number when absent. */
  ports?: Record<number, number>;
}

export type StartContainer = (
  definition: ContainerDefinition | ContainerProperties,
  run: ContainerRun,
) => StartedContainer | Promise<StartedContainer>;

/** A container as tests see and steer it. */
export interface FakeContainer {
  readonly run: ContainerRun;
  readonly definition: ContainerDefinition | ContainerProperties;
  readonly pid: number | undefined;
  readonly ports: Record<number, number>;
  /** What it was sent, in order. */
  readonly signals: StopSignal[];
  readonly exit: { code: number; reason?: string } | undefined;
  readonly exited: Promise<{ code: number; reason?: string }>;
  kill(signal: StopSignal): void;
  /** Ends it with this code, by force where a real process runs. */
  end(code: number, reason?: string): void;
}

const signalNumbers: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

/** Starts containers and remembers them all. */
export class FakeContainers {
  readonly all: FakeContainer[] = [];
  readonly #start: StartContainer;
  readonly #clock: FakeAwsClock;

  constructor(clock: FakeAwsClock, start: StartContainer = recorded) {
    this.#clock = clock;
    this.#start = start;
  }

  async start(
    definition: ContainerDefinition | ContainerProperties,
    run: ContainerRun,
  ): Promise<FakeContainer> {
    const container = wrap(definition, run, await this.#start(definition, run));
    this.all.push(container);
    return container;
  }

  /** SIGTERM, and SIGKILL when it still runs after `graceMs`. */
  stop(container: FakeContainer, graceMs: number): void {
    if (container.exit !== undefined) return;
    container.kill("SIGTERM");
    const cancel = this.#clock.after(graceMs, () => container.kill("SIGKILL"));
    void container.exited.then(cancel);
  }

  /** The ones of a task or job, oldest first. */
  of(arn: string): FakeContainer[] {
    return this.all.filter(({ run }) => run.arn === arn);
  }

  /** Kills what still runs and waits until it is gone. */
  async close(): Promise<void> {
    const running = this.all.filter(({ exit }) => exit === undefined);
    for (const container of running) container.kill("SIGKILL");
    await Promise.all(running.map(({ exited }) => exited));
  }
}

function wrap(
  definition: ContainerDefinition | ContainerProperties,
  run: ContainerRun,
  started: StartedContainer,
): FakeContainer {
  let exit: { code: number; reason?: string } | undefined;
  let forced: { code: number; reason?: string } | undefined;
  const signals: StopSignal[] = [];
  const exited = started.exited.then((ended) => (exit = forced ?? exitOf(ended)));
  const kill = (signal: StopSignal): void => {
    if (exit !== undefined) return;
    signals.push(signal);
    void started.stop(signal);
  };
  return {
    run,
    definition,
    pid: started.pid,
    ports: started.ports ?? {},
    signals,
    exited,
    kill,
    get exit() {
      return exit;
    },
    end(code, reason) {
      if (exit !== undefined) return;
      forced = { code, reason };
      void started.stop("SIGKILL");
    },
  };
}

function exitOf({ exitCode, signal, reason }: ContainerExit): { code: number; reason?: string } {
  const code = exitCode ?? 128 + (signalNumbers[signal ?? "SIGKILL"] ?? 9);
  return reason === undefined ? { code } : { code, reason };
}

/** Runs nothing: waits until it is signalled. */
const recorded: StartContainer = () => {
  const { promise, resolve } = Promise.withResolvers<ContainerExit>();
  return { exited: promise, stop: (signal) => resolve({ exitCode: null, signal }) };
};
